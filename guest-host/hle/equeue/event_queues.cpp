#include "guest-host/hle/equeue/event_queues.hpp"

#include <algorithm>

namespace orrery::hle::equeue {

uint64_t EventQueues::create(std::string name) {
  const std::lock_guard lock(mutex_);
  auto queue = std::make_shared<Queue>();
  queue->name = std::move(name);
  queues_.emplace(next_, std::move(queue));
  return next_++;
}

std::shared_ptr<EventQueues::Queue> EventQueues::find(uint64_t queue) const {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : found->second;
}

bool EventQueues::destroy(uint64_t queue) {
  const std::lock_guard lock(mutex_);
  const auto found = find(queue);
  if (!found) return false;
  found->destroyed = true;
  found->arrived.notify_all();
  queues_.erase(queue);
  return true;
}

bool EventQueues::exists(uint64_t queue) const {
  const std::lock_guard lock(mutex_);
  return find(queue) != nullptr;
}

bool EventQueues::add(uint64_t queue, uint64_t ident, int16_t filter, uint64_t user_data) {
  const std::lock_guard lock(mutex_);
  const auto found = find(queue);
  if (!found) return false;
  found->sources[{ident, filter}] = user_data;
  return true;
}

bool EventQueues::remove(uint64_t queue, uint64_t ident, int16_t filter) {
  const std::lock_guard lock(mutex_);
  const auto found = find(queue);
  if (!found || found->sources.erase({ident, filter}) == 0) return false;
  std::erase_if(found->events, [&](const KernelEvent& e) { return e.ident == ident && e.filter == filter; });
  return true;
}

void EventQueues::post(Queue& queue, const KernelEvent& event) {
  if (queue.events.size() >= kMostKept) {
    refusals_.refuse(
        "event queue: an event that nobody took before the queue was full",
        "a queue keeps " + std::to_string(kMostKept) + " events; the newest replaces the last of '" + queue.name + "'");
    queue.events.pop_back();
  }
  queue.events.push_back(event);
  queue.arrived.notify_all();
}

void EventQueues::trigger(uint64_t ident, int16_t filter, int64_t data) {
  const std::lock_guard lock(mutex_);
  for (auto& [handle, queue] : queues_) {
    const auto source = queue->sources.find({ident, filter});
    if (source != queue->sources.end()) post(*queue, {ident, filter, kClear, 0, data, source->second});
  }
}

void EventQueues::trigger_filter(int16_t filter, int64_t data) {
  const std::lock_guard lock(mutex_);
  for (auto& [handle, queue] : queues_) {
    for (const auto& [source, user_data] : queue->sources) {
      if (source.filter == filter) post(*queue, {source.ident, filter, kClear, 0, data, user_data});
    }
  }
}

bool EventQueues::trigger_user(uint64_t queue, uint64_t ident, uint64_t user_data) {
  const std::lock_guard lock(mutex_);
  const auto found = find(queue);
  if (!found || !found->sources.contains({ident, kFilterUser})) return false;
  post(*found, {ident, kFilterUser, kClear, 0, 0, user_data});
  return true;
}

WaitResult EventQueues::wait(uint64_t queue, size_t most, const clock::Deadline& deadline,
                             std::vector<KernelEvent>& taken) {
  std::unique_lock lock(mutex_);
  const auto found = find(queue);
  if (!found) return WaitResult::no_queue;
  clock::Waiting waiting(deadline);
  while (found->events.empty() && !found->destroyed) {
    if (waiting.over()) return WaitResult::timed_out;
    waiting.sleep(found->arrived, lock);
  }
  if (found->destroyed) return WaitResult::no_queue;
  while (!found->events.empty() && taken.size() < most) {
    taken.push_back(found->events.front());
    found->events.pop_front();
  }
  return WaitResult::events;
}

}  // namespace orrery::hle::equeue
