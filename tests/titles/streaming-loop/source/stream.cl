// Each wave folds its slice of a large input and stores one word a lane through a descriptor that is found in one of
// several ways (STREAM_VARIANT). A group is four waves of 32.
#define VARIANT_STATIC 0  // in user data
#define VARIANT_TABLE 1   // a table's first entry
#define VARIANT_WAVE 2    // a table's entry for this wave
#define VARIANT_GROUP 3   // a table's entry for this group
#define VARIANT_BRANCH 4  // one of two entries, by a branch
#define VARIANT_IMAGE 5   // a T#: a row of 32-bit texels for this group
#define WAVES 4u

SGPR_KERNEL void STREAM_KERNEL(
#if STREAM_VARIANT == VARIANT_STATIC
    buffer out,
#else
    global const uint4* table,
#endif
    buffer in, uint first_in, uint first_out, uint words, uint salt IDS) {
  uint of_group = wave_first(local_x / 32u), lane = local_x % 32u;
  uint in_wave = first_in + group_x * WAVES + of_group, out_wave = first_out + group_x * WAVES + of_group;
  uint result = salt;
  for (uint word = 0; word < words; word++)
    result = (result ^ load_u32(in, ((in_wave * words + word) * 32u + lane) * 4u)) * 16777619u;
  uint whole = (out_wave * 32u + lane) * 4u;
#if STREAM_VARIANT == VARIANT_STATIC
  store_u32(result, out, whole);
#elif STREAM_VARIANT == VARIANT_TABLE
  store_u32(result, descriptor_at(table, 0), whole);
#elif STREAM_VARIANT == VARIANT_WAVE
  store_u32(result, descriptor_at(table, 2u + out_wave), lane * 4u);
#elif STREAM_VARIANT == VARIANT_GROUP
  store_u32(result, descriptor_at(table, 2u + first_out + group_x * WAVES), (of_group * 32u + lane) * 4u);
#elif STREAM_VARIANT == VARIANT_IMAGE
  store_image(as_float(result), image_at(table, first_out / WAVES + group_x), of_group * 32u + lane, 0);
#else
  if (salt & 1u)
    store_u32(result, descriptor_at(table, 0), whole);
  else
    store_u32(result, descriptor_at(table, 1), whole);
#endif
}
