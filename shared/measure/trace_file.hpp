// A run as a Chrome/Perfetto trace: the events of every slot, of both processes and all lives, on one time line.
// Written while the run goes on; a file cut off at any byte still opens in the viewers (JSON array format).
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "shared/error.hpp"
#include "shared/measure/snapshot.hpp"

namespace orrery::measure {

class TraceFile {
 public:
  // Creates the file and tells the writers of `region` to note events. The region must outlive it.
  static Result<TraceFile> create(Region& region, const std::string& path);
  // Takes what was noted since the last call. A ring that went round in between has lost events, which are counted.
  void drain();
  // A life of the service ended: what it still had open is written as unfinished spans, up to now.
  void life_ended();
  // Takes the rest, adds open spans of the guest process, and closes the file's array. Error: what could not be
  // written.
  Result<void> finish();

  uint64_t events() const { return events_; }
  uint64_t lost() const { return lost_; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Line {
    std::string_view name;
    uint64_t start_ns, duration_ns, detail;
    EventKey key;
    bool unfinished = false;
  };
  TraceFile(Region& region, std::unique_ptr<std::FILE, CloseFile> file, std::string path)
      : region_(&region), file_(std::move(file)), path_(std::move(path)) {}
  void drain_slot(size_t slot);
  void write_open(Process process);
  void write(const Line& line);
  void name_track(const EventKey& key, std::string_view name);
  void put(std::string_view text);

  Region* region_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string path_;
  std::array<uint64_t, kSlots> taken_{};
  std::set<std::pair<uint32_t, uint64_t>> named_;  // tracks by life and track id
  std::map<uint64_t, uint64_t> device_end_;        // per life: where its device's last event ended
  uint64_t events_ = 0, lost_ = 0;
  bool failed_ = false;
};

}  // namespace orrery::measure
