#include "guest-host/hle/console.hpp"

#include "guest-host/cpu/guest_thread.hpp"
#include "guest-host/hle/agc/libraries.hpp"
#include "guest-host/hle/equeue/library.hpp"
#include "guest-host/hle/pad/pad.hpp"
#include "guest-host/hle/pthread/library.hpp"
#include "guest-host/hle/sync/library.hpp"
#include "guest-host/hle/system_service/library.hpp"
#include "guest-host/hle/time/library.hpp"
#include "guest-host/hle/user_service/library.hpp"
#include "guest-host/hle/video_out/library.hpp"
#include "guest-host/link/link.hpp"
#include "shared/log.hpp"

namespace orrery::hle {
namespace {

link::SubmissionLog* submissions_of(Environment& env) {
  return env.link == nullptr ? nullptr : &env.link->submissions();
}

// What an interrupt's kevent carries beside the context id (measured).
constexpr int64_t interrupt_data(uint32_t context_id) { return int64_t{context_id} << 16 | 0xff00; }

uint64_t call_guest(GuestAddress function, std::array<uint64_t, 6> arguments) {
  cpu::GuestThread* thread = cpu::GuestThread::current();
  return thread == nullptr ? 0 : thread->call(function, arguments);
}

}  // namespace

struct Console::State {
  Environment& env;
  clock::GuestClock clock;
  equeue::EventQueues queues;
  pad::Pad pad;
  video_out::VideoOut video_out;
  agc::Driver driver;
  agc::Builders builders;
  pthread::Threads threads;
  sync::Semaphores semaphores;
  sync::EventFlags event_flags;

  State(Environment& environment, ConsoleOptions options)
      : env(environment),
        clock(environment.logical_clock),
        queues(environment.refusals),
        video_out({.memory = environment.memory,
                   .clock = clock,
                   .queues = queues,
                   .refusals = environment.refusals,
                   .submissions = submissions_of(environment),
                   .paced = !options.headless && !environment.logical_clock && environment.link != nullptr,
                   .frames = options.frames,
                   .frames_done = [this] { env.process.end({0}); }}),
        driver(environment.memory, clock, environment.refusals, submissions_of(environment)),
        builders{agc::CommandWriter(environment.memory, environment.refusals, call_guest), environment.memory,
                 environment.refusals, video_out},
        threads(environment, clock),
        semaphores() {
    if (clock.turns() != nullptr && env.link != nullptr) {
      clock.turns()->set_outside([link = env.link] { link->settle(); });
    }
  }
};

Console::Console(Environment& environment, ConsoleOptions options)
    : state_(std::make_unique<State>(environment, options)) {}
Console::~Console() = default;

void Console::add_libraries(Registry& registry) {
  State& s = *state_;
  agc::add_state_builders(registry, s.builders);
  agc::add_work_builders(registry, s.builders);
  agc::add_sync_builders(registry, s.builders);
  agc::add_patches(registry, s.builders);
  agc::add_shader_functions(registry, s.builders);
  agc::add_driver(registry, s.driver, s.queues, s.builders);
  video_out::add_library(registry, s.env, s.video_out);
  equeue::add_library(registry, s.env, s.queues, s.clock);
  time::add_library(registry, s.env, s.clock);
  pad::add_library(registry, s.env, s.pad, s.clock);
  user_service::add_library(registry, s.env);
  system_service::add_library(registry, s.env);
  pthread::add_library(registry, s.env, s.threads);
  sync::add_library(registry, s.env, s.semaphores, s.clock);
  sync::add_event_flags(registry, s.env, s.event_flags, s.clock);
}

void Console::stop() {
  state_->video_out.stop();
  if (auto* turns = state_->clock.turns()) turns->stop();
}

void Console::retired(uint64_t, protocol::EntryKind kind) {
  if (kind != protocol::EntryKind::flip) return;
  state_->clock.from_outside([s = state_.get()] { s->video_out.on_flip_shown(); });
}

void Console::queue_event(uint32_t, uint32_t context_id) {
  state_->clock.from_outside([s = state_.get(), context_id] {
    s->video_out.on_gpu_interrupt(context_id);
    s->queues.trigger_filter(equeue::kFilterGraphics, interrupt_data(context_id));
  });
}

void Console::input(const link::PadInput& pad) { state_->pad.set(pad); }

void Console::window_closed() {
  log::info("the window was closed");
  state_->env.process.end({0});
}

void Console::run_must_end(const Error& why) {
  log::error("{}", why.describe());
  state_->env.process.end({static_cast<int>(why.code)});
}

}  // namespace orrery::hle
