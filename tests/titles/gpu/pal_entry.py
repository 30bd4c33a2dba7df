#!/usr/bin/env python3
"""Adds an amdgpu_cs entry to the LLVM IR of an OpenCL function, so that its arguments come in user SGPRs as games do it.

usage: pal_entry.py BODY.ll NAME ARGUMENTS GROUP_SIZE > ENTRY.ll
ARGUMENTS: words of f32, u32, pointer, descriptor (a V#, four SGPRs), image (a T#, eight SGPRs), sampler (an S#, four);
GROUP_SIZE: "64,1,1".
The function takes the arguments, then group ids x, y, z and local ids x, y, z.
"""

import pathlib
import re
import sys

SIZES = {"f32": 4, "u32": 4, "pointer": 8, "descriptor": 16, "image": 32, "sampler": 16}
TYPES = {"f32": "float", "u32": "i32", "pointer": "ptr addrspace(1)", "descriptor": "ptr addrspace(8)",
         "image": "<8 x i32>", "sampler": "<4 x i32>"}


def parse_arguments(text):
    """'pointer f32' -> [{offset, size, type}, ...] with offsets in the user data."""
    out, offset = [], 0
    for word in text.split():
        out.append({"offset": offset, "size": SIZES[word], "type": word})
        offset += SIZES[word]
    return out


def with_descriptor_access(body):
    """Replaces the declarations of descriptor_access.ll's functions by the file."""
    access = (pathlib.Path(__file__).parent / "descriptor_access.ll").read_text(encoding="utf-8")
    used = False
    for name in re.findall(r"^define [^@]*@(\w+)\(", access, re.M):
        body, count = re.subn(rf"^declare [^\n]*@{name}\([^\n]*\n", "", body, flags=re.M)
        used |= count > 0
    return body + access if used else body


def main():
    body, name, arguments, group_size = sys.argv[1:5]
    kinds = arguments.split()
    x, y, z = map(int, group_size.split(","))
    ids = [f"i32 inreg %group_{c}" for c in "xyz"] + [f"i32 %local_{c}" for c in "xyz"]
    parameters = [f"{TYPES[k]} inreg %a{i}" for i, k in enumerate(kinds)] + ids
    passed = [f"{TYPES[k]} %a{i}" for i, k in enumerate(kinds)] + [i.replace(" inreg", "") for i in ids]
    with open(body, encoding="utf-8") as file:
        text = with_descriptor_access(file.read())
    sys.stdout.write(text.replace(f"define hidden void @{name}(", f"define internal void @{name}("))
    sys.stdout.write(f"""
define amdgpu_cs void @_amdgpu_cs_main({', '.join(parameters)}) #4242 {{
  call void @{name}({', '.join(passed)})
  ret void
}}
attributes #4242 = {{ "amdgpu-flat-work-group-size"="{x * y * z},{x * y * z}" }}
""")


if __name__ == "__main__":
    main()
