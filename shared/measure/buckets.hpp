// Log-linear buckets for durations: exact below 16 ns, then 16 buckets to each power of two, so that a value is known
// within 1/16. The last bucket takes everything from 73 minutes on.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace orrery::measure {

inline constexpr unsigned kBucketBits = 4;
inline constexpr uint64_t kPerOctave = 1u << kBucketBits;
inline constexpr unsigned kOctaves = 42;
inline constexpr size_t kBuckets = kPerOctave + (kOctaves - kBucketBits) * kPerOctave;

constexpr size_t bucket_of(uint64_t ns) {
  if (ns < kPerOctave) return ns;
  const auto octave = static_cast<unsigned>(std::bit_width(ns)) - 1;
  if (octave >= kOctaves) return kBuckets - 1;
  const uint64_t within = (ns >> (octave - kBucketBits)) - kPerOctave;
  return (octave - kBucketBits + 1) * kPerOctave + within;
}

// The smallest value of a bucket; that of kBuckets is where the last one ends.
constexpr uint64_t bucket_begin(size_t bucket) {
  if (bucket < kPerOctave) return bucket;
  const size_t octave = bucket / kPerOctave - 1;
  return (kPerOctave + bucket % kPerOctave) << octave;
}

}  // namespace orrery::measure
