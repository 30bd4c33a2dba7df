"""Reads the AMDGPU code objects that LLVM makes (ELF): the loaded image, kernel descriptors and metadata.

Layouts: LLVM's AMDGPUUsage ("Kernel Descriptor", "Code Object Metadata"); registers: AMD's public headers (gc_10_3_0).
"""

import struct

NOTE_METADATA = 32  # NT_AMDGPU_METADATA
PAL_RSRC1, PAL_RSRC2, PAL_RSRC3 = 0x2E12, 0x2E13, 0x2E28
LDS_GRANULE = 512  # bytes a step of COMPUTE_PGM_RSRC2.LDS_SIZE


class CodeObjectError(Exception):
    """The file is no code object that a title can embed; the text says why."""


def read_message_pack(data, at=0):
    """Decodes one MessagePack value; answers (value, position behind it)."""
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 0x100, at
    if 0x80 <= tag <= 0x8F:
        return _map(data, at, tag & 15)
    if 0x90 <= tag <= 0x9F:
        return _array(data, at, tag & 15)
    if 0xA0 <= tag <= 0xBF:
        return data[at:at + (tag & 31)].decode(), at + (tag & 31)
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    numbers = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
               0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
    if tag in numbers:
        return struct.unpack_from(numbers[tag], data, at)[0], at + struct.calcsize(numbers[tag])
    sizes = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}
    if tag in sizes:
        count = struct.unpack_from(sizes[tag], data, at)[0]
        at += struct.calcsize(sizes[tag])
        if tag <= 0xDB:
            return data[at:at + count].decode(), at + count
        return _array(data, at, count) if tag <= 0xDD else _map(data, at, count)
    raise CodeObjectError(f"metadata: MessagePack tag {tag:#x}")


def _array(data, at, count):
    out = []
    for _ in range(count):
        value, at = read_message_pack(data, at)
        out.append(value)
    return out, at


def _map(data, at, count):
    out = {}
    for _ in range(count):
        key, at = read_message_pack(data, at)
        out[key], at = read_message_pack(data, at)
    return out, at


class CodeObject:
    """One linked code object. `image` is what the loader would map, from the first constant to the last instruction."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:4] != b"\x7fELF" or struct.unpack_from("<H", self.data, 18)[0] != 224:
            raise CodeObjectError(f"{path}: not an AMDGPU ELF file")
        self._read_sections()
        self.metadata = self._read_metadata()
        self._read_image()

    def _read_sections(self):
        at, = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        raw = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * size) for i in range(count)]
        strings = raw[names][4]
        self.sections = [(self._text(strings + s[0]),) + s[1:] for s in raw]
        self.symbols = {}
        for section in self.sections:
            if section[1] not in (2, 11):  # SHT_SYMTAB, SHT_DYNSYM
                continue
            text = self.sections[section[6]][4]
            for offset in range(section[4], section[4] + section[5], 24):
                name, _, _, index, value, length = struct.unpack_from("<IBBHQQ", self.data, offset)
                if index:
                    self.symbols[self._text(text + name)] = (value, length)

    def _text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()

    def _read_metadata(self):
        for section in self.sections:
            if section[1] != 7:  # SHT_NOTE
                continue
            at = section[4]
            while at < section[4] + section[5]:
                name_size, size, kind = struct.unpack_from("<III", self.data, at)
                at += 12 + (name_size + 3) // 4 * 4
                if kind == NOTE_METADATA:
                    return read_message_pack(self.data[at:at + size])[0]
                at += (size + 3) // 4 * 4
        raise CodeObjectError("no metadata note")

    def _read_image(self):
        parts = [s for s in self.sections if s[0] in (".rodata", ".text") and s[5]]
        for section in self.sections:
            if section[1] in (4, 9) and section[5]:  # SHT_RELA, SHT_REL
                raise CodeObjectError(f"{section[0]}: relocations at load time; refer to constants relative to the code")
            if section[2] & 3 == 3 and section[1] == 1 and section[5]:
                raise CodeObjectError(f"{section[0]}: writable data in a kernel")
        self.base = min(s[3] for s in parts) // 256 * 256
        image = bytearray(max(s[3] + s[5] for s in parts) - self.base)
        for section in parts:
            at = section[3] - self.base
            image[at:at + section[5]] = self.data[section[4]:section[4] + section[5]]
        image += bytes(-len(image) % 256)
        self.image = bytes(image)

    def code(self, symbol):
        """(entry offset in the image, bytes of the function)."""
        address, size = self.symbols[symbol]
        return address - self.base, self.image[address - self.base:address - self.base + size]


def hsa_kernel(code_object, name):
    """What a dispatch needs, from the kernel descriptor and metadata of an amdhsa kernel."""
    kernel, = [k for k in code_object.metadata["amdhsa.kernels"] if k[".name"] == name]
    at = code_object.symbols[name + ".kd"][0] - code_object.base
    lds, private, kernarg, _, entry = struct.unpack_from("<IIIIq", code_object.image, at)
    rsrc3, rsrc1, rsrc2, properties = struct.unpack_from("<IIIH", code_object.image, at + 0x2C)
    register = 0
    registers = {}
    for bit, what, count in ((0, "private_buffer", 4), (1, "dispatch_packet", 2), (2, "queue", 2), (3, "kernarg", 2),
                             (4, "dispatch_id", 2), (5, "flat_scratch", 2), (6, "private_size", 1)):
        if properties >> bit & 1:
            registers[what] = register
            register += count
    if register > (rsrc2 >> 1 & 31):
        raise CodeObjectError(f"{name}: USER_SGPR is smaller than its properties ask for")
    arguments = []
    for argument in kernel[".args"]:
        kind = argument[".value_kind"]
        if kind.startswith("hidden_"):
            continue
        if kind not in ("by_value", "global_buffer"):
            raise CodeObjectError(f"{name}: argument kind {kind}")
        pointer = kind == "global_buffer"
        arguments.append({"offset": argument[".offset"], "size": argument[".size"],
                          "type": "pointer" if pointer else argument[".type_name"]})
    offset, code = code_object.code(name)
    if at + entry != offset:
        raise CodeObjectError(f"{name}: the descriptor's entry is not the symbol")
    return {"convention": "hsa", "entry": offset, "code": code, "rsrc1": rsrc1,
            "rsrc2": rsrc2 & ~(0x1FF << 15) | -(-lds // LDS_GRANULE) << 15, "rsrc3": rsrc3,
            "user_sgprs": rsrc2 >> 1 & 31, "registers": registers, "lds": lds, "private": private,
            "argument_bytes": kernarg, "arguments": arguments, "group_size": kernel.get(".reqd_workgroup_size", [0, 0, 0]),
            "wave": kernel[".wavefront_size"]}


def pal_kernel(code_object, arguments, group_size, wave):
    """The same for an amdpal compute entry whose `arguments` lie in user SGPRs s0, s1, ...; group ids x, y, z follow."""
    pipeline = code_object.metadata["amdpal.pipelines"][0]
    registers = pipeline[".registers"]
    stage = pipeline[".hardware_stages"][".cs"]
    lds = stage.get(".lds_size", 0)
    if stage.get(".scratch_memory_size", 0):
        raise CodeObjectError("scratch memory in an amdpal kernel")
    size = sum(a["size"] for a in arguments)
    user_sgprs = size // 4
    if user_sgprs > 16:
        raise CodeObjectError(f"{user_sgprs} user SGPRs; there are 16")
    # The compiler counts the group ids as user data: they are set by TGID_*_EN. Local ids: all three (TIDIG_COMP_CNT 2).
    rsrc2 = registers[PAL_RSRC2] & ~(0x1F << 1 | 7 << 7 | 3 << 11 | 0x1FF << 15)
    rsrc2 |= user_sgprs << 1 | 7 << 7 | 2 << 11 | -(-lds // LDS_GRANULE) << 15
    entry, code = code_object.code("_amdgpu_cs_main")
    return {"convention": "pal", "entry": entry, "code": code, "rsrc1": registers[PAL_RSRC1], "rsrc2": rsrc2,
            "rsrc3": registers.get(PAL_RSRC3, 0), "user_sgprs": user_sgprs, "registers": {}, "lds": lds, "private": 0,
            "argument_bytes": size, "arguments": arguments, "group_size": group_size, "wave": wave}
