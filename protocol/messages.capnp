@0xd6a1f0c2b7e94385;
# The protocol between orrery-guest and orrery-gpu. This file IS the protocol: change it, and kProtocolVersion with it.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("orrery::protocol::wire");

const protocolVersion :UInt32 = 7;

# Sent by each side over the control socket, once per life of the service. The guest's Hello carries descriptors in this
# order: guest arena, control segment, redo memory, and what `tracking` says.
struct Hello {
  version @0 :UInt32;
  buildId @1 :Text;
  arenaSize @2 :UInt64;       # bytes
  segmentSize @3 :UInt64;     # bytes
  parts @4 :List(Part);       # where each part of the control segment lies (guest's Hello only)
  life @5 :UInt32;            # 1 for the first service of a run
  options @6 :RunOptions;     # guest's Hello only
  deviceName @7 :Text;        # service's Hello only
  tracking @8 :Tracking;      # guest's Hello only
}

# How the service can learn which pages the title's CPU wrote.
enum Tracking {
  none @0;      # by looking at their contents
  pagemap @1;   # the fourth descriptor is the guest process's pagemap; all its windows are registered with userfaultfd
  faults @2;    # the fourth descriptor is a byte per host page of the guest's addresses; pages are armed on request
}

struct Part {
  name @0 :Text;     # "guest-to-service", "service-to-guest", "journal", "journal-bytes", "address-map", "checkpoints", "stretch", "ledger", "quarantine", "status", "window", "window-pixels", "reported-writes", "arm-requests", "measures", "questions", "answers"
  offset @1 :UInt64; # bytes from the start of the control segment
  size @2 :UInt64;   # bytes
}

struct RunOptions {
  headless @0 :Bool;
  logicalClock @1 :Bool;
  keepFramesDirectory @2 :Text;  # empty: keep none
  keepEvery @3 :UInt32;          # every n-th flip; 0 means 1
  title @4 :Text;                # shown in the window's title bar
}

# Guest to service. The bodies of submissions and flips are in the journal; the message says which.
struct GuestMessage {
  union {
    submit @0 :UInt64;       # journal sequence number of a submission or flip, now complete in the journal
    mapChanged @1 :UInt64;   # version of the address map
    queuedWrites @2 :QueuedWrites;
    shutdown @3 :Void;       # finish what was submitted, then exit with status 0
    settle @4 :UInt64;       # do what can be done, then answer `settled` with this number (the logical clock)
  }
}

struct QueuedWrites {
  ask @0 :UInt64;        # echoed in the answer
  sequence @1 :UInt64;   # submissions up to this one; 0 means all
}

# Service to guest.
# What is published (labels, events, done entries) does not come as a message but with its stretch (stretch.hpp).
struct ServiceMessage {
  union {
    input @0 :Input;
    refusal @1 :Refusal;
    queuedWritesAnswer @2 :QueuedWritesAnswer;
    windowClosed @3 :Void;      # the person closed the window
    settled @4 :UInt64;         # nothing moves any more: all that was submitted is done, or waits for the title's CPU
  }
}

# The whole pad state; sent when it changes. Buttons use the guest's ScePadData bits.
struct Input {
  buttons @0 :UInt32;
  leftX @1 :UInt8; leftY @2 :UInt8; rightX @3 :UInt8; rightY @4 :UInt8;
  l2 @5 :UInt8; r2 @6 :UInt8;
}

# Something the service does not handle; reported once per distinct text, counted by the service.
struct Refusal { kind @0 :Text; text @1 :Text; count @2 :UInt64; }

# Questions and answers have rings of their own ("questions", "answers"): neither waits for other messages.
struct QueuedWritesAnswer {
  ask @0 :UInt64;
  union {
    spans @1 :List(Span);
    unbounded @2 :Text;   # why nothing bounds what may be written
    refused @3 :Text;
  }
  sequence @4 :UInt64;    # unbounded: the newest submission for which that is so
}

struct Span { address @0 :UInt64; size @1 :UInt64; sequence @2 :UInt64; }  # sequence: the newest submission that may write there
