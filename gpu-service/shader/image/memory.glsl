// What the module that the library is linked into provides: the bodies here are replaced (spirv/image_library.cpp).
// An element's bytes at a guest address that is a multiple of its size (1, 2, 4, 8 or 16), zeros behind them; 0 where
// nothing is mapped, which is noted as an escape. `where` names the instruction in reports.
uvec4 load_element(const in uint64_t address, const in uint bytes, const in uint where) { return uvec4(0); }
void store_element(const in uint64_t address, const in uint bytes, const in uvec4 element, const in uint where) {}
// ImageRefusal: the lowest reason is reported.
void refuse(const in uint reason, const in uint where) {}
// Stands in every loop: some drivers cut loops off, which has to be noticed.
void count_round() {}
