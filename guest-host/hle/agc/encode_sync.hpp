// Packets of the builders that order, wait, move data and mark. Pure: words in, words out.
#pragma once

#include "guest-host/hle/agc/pm4.hpp"

namespace orrery::hle::agc {

// A write to the marker register: c0017904 342 `value`. Measured.
Words marker(uint32_t value);
Words push_marker();  // c1......, the low bits are not measured
Words pop_marker();   // c2......

Words event_write(uint32_t type);  // measured

// ACQUIRE_MEM. Header and size measured; fields from AMD's public headers. `size` 0 or all ones: everything.
struct AcquireMem {
  uint32_t engine = 0;  // 1: parameter fetch (PFP), bit 31
  uint32_t cb_db_op = 0;
  uint32_t gcr_control = 0;
  uint64_t base = 0;
  uint64_t size = 0;         // bytes
  uint32_t poll_cycles = 0;  // in units of 16, as WAIT_REG_MEM's
};
Words acquire_mem(const AcquireMem& args);

// RELEASE_MEM. Layout as measured in the flip packet and the captured fences.
struct ReleaseMem {
  uint32_t event = 0;  // bits 5:0; index 6 for the shader-done events 0x2f and 0x30, else 5
  uint32_t gcr_control = 0;
  uint32_t destination = 0;
  uint32_t cache_policy = 0;
  uint64_t address = 0;
  uint32_t data_select = 0;  // 1: 32 bits, 2: 64 bits, 3: GPU clock
  uint64_t data = 0;
  uint32_t interrupt = 0;
  uint32_t context_id = 0;
};
Words release_mem(const ReleaseMem& args);

// DMA_DATA. Control word, header and size as captured; selector 2 as source is immediate data, 3 is memory through L2.
struct DmaData {
  uint32_t engine = 0;
  uint32_t destination_select = 0;
  uint32_t destination_policy = 0;
  uint64_t destination = 0;
  uint32_t source_select = 0;
  uint32_t source_policy = 0;
  uint64_t source = 0;  // address, or the immediate in the low half
  uint32_t bytes = 0;   // at most 0x3ffffff
  uint32_t raw_wait = 0;
  uint32_t disable_write_confirm = 0;
  uint32_t cp_sync = 0;
};
Words dma_data(const DmaData& args);

// The header of a WRITE_DATA; `dwords` data words follow it.
struct WriteData {
  uint32_t destination_select = 0;  // 0 register, 5 memory, 2 memory through L2
  uint32_t cache_policy = 0;
  uint64_t address = 0;
  uint32_t dwords = 0;
  uint32_t one_address = 0;  // 1: every word to the same address
  uint32_t write_confirm = 0;
};
Words write_data(const WriteData& args);

// Three packets: marker, wait, marker. Measured.
struct WaitRegMem {
  uint32_t is_64_bit = 0;
  uint32_t compare = 0;    // bits 2:0
  uint32_t operation = 0;  // bits 9:8
  uint32_t cache_policy = 0;
  uint64_t address = 0;
  uint64_t reference = 0;
  uint64_t mask = 0;
  uint32_t poll_cycles = 0;
};
Words wait_reg_mem(const WaitRegMem& args);

// 32 bytes: a filler and the markers 0xce200000 and 0xcea00000 (measured); their arrangement is assumed.
Words reset_queue();

}  // namespace orrery::hle::agc
