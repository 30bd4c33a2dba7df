#!/usr/bin/env python3
"""Makes the console's form of a linked title: identifiers for names, vendor tags, process parameters, its own ELF type.

Input: an ELF shared object by ld.lld with plain undefined names. Forms (facts: the SDK's README):
  current   tables in an ordinary segment, tags are virtual addresses
  previous  tables in a DYNLIBDATA segment, vendor tags are offsets into it
  plain     the linked file as it is
--self wraps the result into an unencrypted SELF."""

import argparse
import base64
import hashlib
import struct
import sys

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
NID_SUFFIX = bytes.fromhex("518D64A635DED8C1E6B039B1C3E55230")
PAGE = 0x4000
PT_LOAD, PT_DYNAMIC, PT_PHDR, PT_GNU_STACK = 1, 2, 6, 0x6474E551
PT_DYNLIBDATA, PT_PROCPARAM = 0x61000000, 0x61000001
DT_NEEDED, DT_PLTRELSZ, DT_PLTGOT, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA = 1, 2, 3, 4, 5, 6, 7
DT_RELASZ, DT_RELAENT, DT_STRSZ, DT_SYMENT, DT_PLTREL, DT_JMPREL, DT_FLAGS = 8, 9, 10, 11, 20, 23, 30
VENDOR = 0x61000000


def nid_of(name):
    if len(name) == 12 and name[0] == "$":
        return name[1:]
    digest = hashlib.sha1(name.encode() + NID_SUFFIX).digest()[:8][::-1]
    return base64.b64encode(digest, b"+-").decode()[:11]


def number(value):
    """A library or module id in the identifier's alphabet."""
    text = DIGITS[value & 63]
    while value >= 64:
        value >>= 6
        text = DIGITS[value & 63] + text
    return text


def elf_hash(name):
    h = 0
    for byte in name:
        h = (h << 4) + byte
        g = h & 0xF0000000
        if g:
            h ^= g >> 24
        h &= ~g & 0xFFFFFFFF
    return h


class Strings:
    def __init__(self):
        self.bytes = bytearray(b"\0")
        self.known = {b"": 0}

    def add(self, text):
        if isinstance(text, str):
            text = text.encode()
        if text not in self.known:
            self.known[text] = len(self.bytes)
            self.bytes += text + b"\0"
        return self.known[text]


class Linked:
    """The linker's output, as far as it is needed here."""

    def __init__(self, data):
        self.data = bytearray(data)
        self.header = list(struct.unpack_from("<16sHHIQQQIHHHHHH", data))
        phoff, phnum, shoff, shnum, shstrndx = (self.header[i] for i in (5, 10, 6, 12, 13))
        self.segments = [list(struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * i)) for i in range(phnum)]
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * i) for i in range(shnum)]
        names = sections[shstrndx][4]
        self.sections = {}
        for s in sections:
            end = data.index(b"\0", names + s[0])
            self.sections[data[names + s[0]:end].decode()] = s
        dynamic = next(s for s in self.segments if s[0] == PT_DYNAMIC)
        self.tags = {}
        for at in range(dynamic[2], dynamic[2] + dynamic[5], 16):
            tag, value = struct.unpack_from("<QQ", data, at)
            if tag == 0:
                break
            self.tags[tag] = value

    def at(self, address, size):
        for s in self.segments:
            if s[0] == PT_LOAD and s[3] <= address and address + size <= s[3] + s[5]:
                offset = s[2] + address - s[3]
                return bytes(self.data[offset:offset + size])
        sys.exit(f"console_form: {address:#x} is in no segment")


def read_manifest(paths):
    table = {}
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                words = line.split("#")[0].split()
                if len(words) == 3:
                    table[words[0]] = (words[1], words[2])
    return table


def convert(elf, manifest, form, title):
    count = struct.unpack("<II", elf.at(elf.tags[DT_HASH], 8))[1]
    strings_in = elf.at(elf.tags[DT_STRTAB], elf.tags[DT_STRSZ])
    symbols = [list(struct.unpack("<IBBHQQ", elf.at(elf.tags[DT_SYMTAB] + 24 * i, 24))) for i in range(count)]
    strings, modules, libraries, names, missing = Strings(), [], [], [b""], []
    for symbol in symbols[1:]:
        name = strings_in[symbol[0]:strings_in.index(b"\0", symbol[0])].decode()
        if symbol[3] == 0:
            where = manifest.get(name, ("libkernel", "libkernel") if name.startswith("$") else None)
            if where is None:
                missing.append(name)
                continue
            if where[1] not in modules:
                modules.append(where[1])
            if where not in libraries:
                libraries.append(where)
            name = f"{nid_of(name)}#{number(libraries.index(where))}#{number(modules.index(where[1]))}"
        names.append(name.encode())
        symbol[0] = strings.add(name)
    if missing:
        sys.exit("console_form: not in the list of imports: " + ", ".join(missing) + ". Add name, library and module "
                 "to imports.txt, or define the function.")

    symbol_bytes = b"".join(struct.pack("<IBBHQQ", *s) for s in symbols)
    buckets, chains = [0] * max(1, count // 2), [0] * count
    for index in range(count - 1, 0, -1):
        bucket = elf_hash(names[index]) % len(buckets)
        chains[index], buckets[bucket] = buckets[bucket], index
    hash_bytes = struct.pack(f"<II{len(buckets)}I{count}I", len(buckets), count, *buckets, *chains)

    previous = form == "previous"
    tag = {"original": 0x09, "info": 0x0D, "needed": 0x0F, "library": 0x15} if previous else \
          {"original": 0x41, "info": 0x43, "needed": 0x45, "library": 0x49}
    identity = [(VENDOR + tag["original"], strings.add(title + ".elf")),
                (VENDOR + tag["info"], 1 << 40 | 1 << 32 | strings.add(title))]
    for index, module in enumerate(modules):
        identity.append((DT_NEEDED, strings.add(module + ".prx")))
        identity.append((VENDOR + tag["needed"], index << 48 | 1 << 40 | 1 << 32 | strings.add(module)))
    for index, (library, _) in enumerate(libraries):
        identity.append((VENDOR + tag["library"], index << 48 | 1 << 32 | strings.add(library)))
        if previous:
            identity.append((VENDOR + 0x19, index << 48 | 0x9))
    relocations = elf.at(elf.tags[DT_RELA], elf.tags[DT_RELASZ]) if DT_RELA in elf.tags else b""
    jumps = elf.at(elf.tags[DT_JMPREL], elf.tags[DT_PLTRELSZ]) if DT_JMPREL in elf.tags else b""

    pieces, size = [], 0

    def place(content):
        nonlocal size
        size = (size + 15) & ~15
        pieces.append((size, content))
        size += len(content)
        return pieces[-1][0]

    base = max((s[3] + s[6] + PAGE - 1) & ~(PAGE - 1) for s in elf.segments if s[0] == PT_LOAD)
    string_at, symbol_at, hash_at = place(bytes(strings.bytes)), place(symbol_bytes), place(hash_bytes)
    if previous:
        relocation_at, jump_at = place(relocations), place(jumps)
        tables = [(0x25, hash_at), (0x3D, len(hash_bytes)), (0x35, string_at), (0x37, len(strings.bytes)),
                  (0x39, symbol_at), (0x3B, 24), (0x3F, len(symbol_bytes)), (0x2F, relocation_at),
                  (0x31, len(relocations)), (0x33, 24), (0x29, jump_at), (0x2B, DT_RELA), (0x2D, len(jumps))]
        tags = [(VENDOR + t, v) for t, v in tables] + identity
    else:
        tags = [(DT_HASH, base + hash_at), (DT_STRTAB, base + string_at), (DT_STRSZ, len(strings.bytes)),
                (DT_SYMTAB, base + symbol_at), (DT_SYMENT, 24),
                (VENDOR + 0x3D, len(hash_bytes)), (VENDOR + 0x3F, len(symbol_bytes))] + identity
        tags += [(t, elf.tags[t]) for t in (DT_RELA, DT_RELASZ, DT_RELAENT, DT_JMPREL, DT_PLTRELSZ, DT_PLTREL,
                                            DT_PLTGOT, DT_FLAGS) if t in elf.tags]
    tags.append((0, 0))
    table_size = (size + 15) & ~15
    dynamic = b"".join(struct.pack("<QQ", t, v) for t, v in tags)
    dynamic_at = place(dynamic)
    blob = bytearray(size)
    for at, content in pieces:
        blob[at:at + len(content)] = content

    kept_end = max(s[2] + s[5] for s in elf.segments if s[0] == PT_LOAD)
    file_at = (kept_end + PAGE - 1) & ~(PAGE - 1)
    out = elf.data[:kept_end] + bytes(file_at - kept_end) + blob
    parameters = elf.sections.get(".sce_process_param")
    if parameters is None:
        sys.exit("console_form: no .sce_process_param section: link the SDK's start file")
    segments = []
    for s in elf.segments:
        if s[0] == PT_DYNAMIC:
            at = dynamic_at
            s = [PT_DYNAMIC, 6, file_at + at, base + at, base + at, len(dynamic), len(dynamic), 8]
        elif s[0] == PT_PHDR:
            s = [PT_PROCPARAM, 4, parameters[4], parameters[3], parameters[3], parameters[5], parameters[5], 8]
        elif s[0] == PT_GNU_STACK:
            if previous:
                s = [PT_DYNLIBDATA, 4, file_at, 0, 0, table_size, 0, 16]
            else:
                s = [PT_LOAD, 6, file_at, base, base, size, size, PAGE]
        segments.append(s)
    if previous:  # the dynamic section is loaded, its tables are not
        at = file_at + dynamic_at
        for s in segments:
            if s[0] == PT_DYNAMIC:
                s[3] = s[4] = 0
                s[2] = at
    segments.sort(key=lambda s: (s[0] != PT_LOAD, s[3] if s[0] == PT_LOAD else s[0]))
    header = elf.header
    ident = bytearray(header[0])
    ident[7], ident[8] = 9, 0 if previous else 2
    header[0], header[1], header[6], header[12], header[13] = bytes(ident), 0xFE10, 0, 0, 0
    struct.pack_into("<16sHHIQQQIHHHHHH", out, 0, *header)
    for index, s in enumerate(segments):
        struct.pack_into("<IIQQQQQQ", out, header[5] + 56 * index, *s)
    return bytes(out)


def fill_in_constructors(elf):
    table, place = elf.sections.get(".ctors"), elf.sections.get(".orrery_constructors")
    if table is not None and place is not None:
        struct.pack_into("<qq", elf.data, place[4], table[3] - place[3], table[5])


def wrap_self(elf):
    """An unencrypted container: one entry with data for each segment that has bytes in the file."""
    phoff, phnum = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
    segments = [struct.unpack_from("<IIQQQQQQ", elf, phoff + 56 * i) for i in range(phnum)]
    wanted = [i for i, s in enumerate(segments) if s[5] and s[0] in (PT_LOAD, PT_DYNLIBDATA, PT_DYNAMIC)]
    head_size = 32 + 32 * len(wanted)
    elf_head = elf[:phoff + 56 * phnum]
    extended = (head_size + len(elf_head) + 15) & ~15
    at = (extended + 64 + 0x30 + 15) & ~15
    entries, bodies = b"", b""
    for index in wanted:
        s = segments[index]
        entries += struct.pack("<QQQQ", index << 20 | 1 << 11 | 1, at + len(bodies), s[5], s[5])
        bodies += elf[s[2]:s[2] + s[5]] + bytes(-s[5] % 16)
    total = at + len(bodies)
    head = struct.pack("<4sBBBBIHHQHHI", b"\x4F\x15\x3D\x1D", 0, 1, 1, 0x12, 0x101, head_size, 0, total, len(wanted),
                       0x22, 0)
    out = bytearray(head + entries + elf_head)
    out += bytes(extended - len(out)) + struct.pack("<QQQQ32x", 0, 1, 0, 0)
    out += bytes(at - len(out)) + bodies
    return bytes(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--imports", required=True, action="append", help="lists of imports: name, library, module")
    parser.add_argument("--form", choices=("current", "previous", "plain"), default="current")
    parser.add_argument("--self", action="store_true", help="wrap into an unencrypted SELF")
    parser.add_argument("--title", default="eboot")
    options = parser.parse_args()
    with open(options.input, "rb") as file:
        data = file.read()
    elf = Linked(data)
    fill_in_constructors(elf)
    data = bytes(elf.data)
    if options.form != "plain":
        data = convert(elf, read_manifest(options.imports), options.form, options.title)
    if options.self:
        data = wrap_self(data)
    with open(options.output, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
