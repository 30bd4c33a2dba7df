#!/usr/bin/env python3
"""Turns a code object into what a title links (C) or what translator tests read (raw code and JSON).

usage: embed_kernel.py CODE_OBJECT NAME --wave 32|64 [--sgprs ARGUMENTS] [--group-size X,Y,Z] [--c OUT] [--cpu OUT] [--corpus PREFIX]
"""

import argparse
import json
import struct
import sys

from code_object import CodeObject, CodeObjectError, hsa_kernel, pal_kernel
from pal_entry import parse_arguments

CPU_TYPES = {"pointer": "void*", "f32": "float", "u32": "unsigned", "float": "float", "uint": "unsigned", "int": "int",
             "ulong": "unsigned long", "long": "long", "double": "double", "descriptor": "const void*", "image": "const void*",
             "sampler": "const void*"}


def words(data):
    values = [f"0x{int.from_bytes(data[i:i + 4], 'little'):08x}," for i in range(0, len(data), 4)]
    return "\n".join("  " + " ".join(values[i:i + 10]) for i in range(0, len(values), 10))


def c_source(name, kernel, image):
    def register(what):
        return kernel["registers"].get(what, -1)
    kinds = {"pointer": "GPU_POINTER", "descriptor": "GPU_DESCRIPTOR", "image": "GPU_IMAGE", "sampler": "GPU_SAMPLER"}
    arguments = "\n".join(f"  {{{a['offset']}, {a['size']}, {kinds.get(a['type'], 'GPU_VALUE')}}}," for a in kernel["arguments"])
    symbol = f"{name}_w{kernel['wave']}"
    x, y, z = kernel["group_size"]
    return f"""// Made from the code object of {name}. The GPU runs the image where the title's loader put it.
#include "gpu_kernel.h"
static const unsigned image[{len(image) // 4}] __attribute__((aligned(256))) = {{
{words(image)}
}};
static const struct gpu_kernel_argument arguments[] = {{
{arguments}
}};
const struct gpu_kernel {symbol} = {{
    .name = "{name}", .image = image, .image_bytes = {len(image)}, .entry = {kernel['entry']}, .code_bytes = {len(kernel['code'])},
    .rsrc1 = 0x{kernel['rsrc1']:08x}, .rsrc2 = 0x{kernel['rsrc2']:08x}, .rsrc3 = 0x{kernel['rsrc3']:08x},
    .wave = {kernel['wave']}, .user_sgprs = {kernel['user_sgprs']}, .lds_bytes = {kernel['lds']}, .private_bytes = {kernel['private']},
    .arguments_in_sgprs = {int(kernel['convention'] == 'pal')}, .private_buffer_sgpr = {register('private_buffer')},
    .dispatch_packet_sgpr = {register('dispatch_packet')}, .kernarg_sgpr = {register('kernarg')},
    .flat_scratch_sgpr = {register('flat_scratch')}, .queue_sgpr = {register('queue')}, .dispatch_id_sgpr = {register('dispatch_id')},
    .group_size = {{{x}, {y}, {z}}}, .argument_bytes = {kernel['argument_bytes']},
    .argument_count = {len(kernel['arguments'])}, .arguments = arguments,
}};
"""


def cpu_source(name, kernel):
    types = [CPU_TYPES[a["type"]] for a in kernel["arguments"]]
    passed = [f"a + {a['offset']}" if a["type"] in ("descriptor", "image", "sampler") else f"*({t} const*)(a + {a['offset']})"
              for a, t in zip(kernel["arguments"], types)]
    return f"""// Calls one work item of {name}, compiled for the CPU, with the arguments of a dispatch.
void {name}({', '.join(types)});
void {name}_on_cpu(const unsigned char* a);
void {name}_on_cpu(const unsigned char* a) {{ {name}({', '.join(passed)}); }}
"""


def write(path, content):
    with open(path, "wb" if isinstance(content, bytes) else "w") as file:
        file.write(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("code_object")
    parser.add_argument("name")
    parser.add_argument("--wave", type=int, required=True)
    parser.add_argument("--sgprs")
    parser.add_argument("--group-size", default="0,0,0")
    parser.add_argument("--c")
    parser.add_argument("--cpu")
    parser.add_argument("--corpus")
    options = parser.parse_args()
    try:
        code_object = CodeObject(options.code_object)
        if options.sgprs is None:
            kernel = hsa_kernel(code_object, options.name)
        else:
            kernel = pal_kernel(code_object, parse_arguments(options.sgprs), [0, 0, 0], options.wave)
    except CodeObjectError as error:
        sys.exit(f"{options.code_object}: {options.name}: {error}")
    except (struct.error, LookupError, ValueError) as error:
        sys.exit(f"{options.code_object}: {options.name}: damaged or incomplete code object ({error!r})")
    except OSError as error:
        sys.exit(f"{options.code_object}: {error.strerror}")
    if not all(kernel["group_size"]):
        kernel["group_size"] = [int(v) for v in options.group_size.split(",")]
    if kernel["wave"] != options.wave:
        sys.exit(f"{options.code_object}: wave{kernel['wave']}, not wave{options.wave}")
    if options.c:
        write(options.c, c_source(options.name, kernel, code_object.image))
    if options.cpu:
        write(options.cpu, cpu_source(options.name, kernel))
    if options.corpus:
        write(options.corpus + ".bin", kernel["code"])
        write(options.corpus + ".image", code_object.image)
        facts = {key: value for key, value in kernel.items() if key != "code"}
        facts |= {"name": options.name, "code_bytes": len(kernel["code"]), "image_bytes": len(code_object.image)}
        write(options.corpus + ".json", json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
