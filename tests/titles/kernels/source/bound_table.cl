// Descriptors lie in a table in memory, whose address is all that the user SGPRs hold; one is read as constants.
SGPR_KERNEL void bound_table(global const uint4* table IDS) {
  buffer constants = descriptor_at(table, 0), x = descriptor_at(table, 1), y = descriptor_at(table, 2);
  uint i = group_x * 64 + local_x;
  float a = as_float(load_constant(constants, 0)), b = as_float(load_constant(constants, 4));
  float result = a * as_float(load_u32(x, i * 4)) + b;
  store_u32(as_uint(result), y, i * 4);
}
