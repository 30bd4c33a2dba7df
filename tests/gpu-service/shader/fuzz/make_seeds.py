"""Seeds for the fuzzers: every kernel of the shader corpus in some layouts. usage: make_seeds.py TARGET CORPUS OUT"""

import json
import sys
from pathlib import Path

# parse_input in fuzz_input.hpp: index of the subgroup widths, of the group sizes.
SUBGROUPS = {32: 0, 8: 1, 16: 2, 64: 3, 1: 4}
GROUPS = {(64, 1, 1): 0, (32, 1, 1): 1, (8, 8, 1): 2, (256, 1, 1): 5}


def header(facts, subgroup, flags):
    rsrc1, rsrc2 = facts["rsrc1"], facts["rsrc2"]
    lds = min(31, ((rsrc2 >> 15 & 511) + 3) // 4)
    return bytes([(facts["wave"] == 64) | SUBGROUPS[subgroup] << 1 | flags,
                  GROUPS.get(tuple(facts["group_size"]), 0),
                  min(63, (facts["private"] + 3) // 4) | (rsrc2 & 1) << 6,
                  min(16, rsrc2 >> 1 & 31) | (rsrc2 >> 7 & 7) << 5,
                  (rsrc2 >> 10 & 7) | lds << 3,
                  rsrc1 >> 12 & 255, (rsrc1 >> 21 & 1) | (rsrc1 >> 23 & 1) << 1, 0])


def main():
    target, corpus, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    most = 4096  # bytes of code: larger programs are slow to mutate and show nothing more
    for path in sorted(corpus.glob("*.json")):
        facts = json.loads(path.read_text())
        code = path.with_suffix(".bin").read_bytes()
        if len(code) > most:
            continue
        name = path.stem
        if target == "decode":
            (out / f"seed-{name}").write_bytes(code)
            continue
        for number, (subgroup, flags) in enumerate(((32, 0), (8, 128), (1, 64), (32, 32))):
            (out / f"seed-{name}-{number}").write_bytes(header(facts, subgroup, flags) + code)


if __name__ == "__main__":
    main()
