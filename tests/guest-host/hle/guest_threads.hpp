// Guest threads under the logical clock, without a guest.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "guest-host/clock/turns.hpp"

namespace orrery::clock {

using Body = std::function<void()>;

// Runs the bodies as guest threads, made in this order by a first one that ends at once.
inline void play(Turns& turns, const std::vector<Body>& bodies) {
  std::vector<std::thread> threads;
  std::thread first([&] {
    for (const Body& body : bodies) {
      const uint64_t number = turns.enroll();
      threads.emplace_back([&turns, &body, number] {
        turns.begin(number);
        body();
        turns.end();
      });
    }
    turns.end();
  });
  first.join();
  for (auto& thread : threads) thread.join();
}

}  // namespace orrery::clock
