#include "gpu-service/service/options.hpp"

#include <CLI/CLI.hpp>

namespace orrery::service {

ParsedOptions parse_options(int argc, char** argv) {
  ParsedOptions parsed;
  Options& options = parsed.options;
  CLI::App app("The GPU service of Orrery: executes a title's GPU work. It is started by `orrery run`, not by hand.",
               "orrery-gpu");
  app.add_option("--control-fd", options.control_fd, "descriptor of the control socket to the guest process");
  auto* gpu = app.add_option("--gpu", options.gpu, "number of the Vulkan device (see --list-devices)");
  app.add_flag("--cpu", options.cpu, "use the software Vulkan device")->excludes(gpu);
  app.add_flag("--validation", options.validation, "load the Vulkan validation layer and log its messages");
  app.add_option("--patience", options.patience,
                 "seconds that one dispatch may take before it counts as hung (default 10, on the software device 300)")
      ->check(CLI::Range(1u, 86400u));
  app.add_option(
         "--sandbox", options.sandbox,
         "give up the rights to write files anywhere and to start programs: on, off, auto (on the software device)")
      ->check(CLI::IsMember({"auto", "on", "off"}));
  app.add_flag("!--no-redo", options.exactly_once,
               "store at once, without stretches: after a death work may be done twice (for measurements)");
  std::string coherence = "auto";
  app.add_option(
         "--tracker", options.tracker,
         "how the title's writes are found: uffd (the kernel's write-protection), mprotect (faults in the guest "
         "process), hash (contents), auto")
      ->check(CLI::IsMember({"auto", "uffd", "mprotect", "hash"}));
  app.add_option(
         "--coherence", coherence,
         "imported (programs work in the title's memory), mirrored (in copies on the device), per-run (mirrored, "
         "with one harvest per copied run: slow, for measurements), auto (mirrored on discrete GPUs)")
      ->check(CLI::IsMember({"auto", "imported", "mirrored", "per-run"}));
  app.add_flag("--routes", options.routes, "at the end say by which routes each program's dispatches were prepared");
  app.add_flag("!--no-device-addressing", options.device_addressing,
               "programs may not store through addresses they compute, except where a run on the host found them");
  auto* list = app.add_flag("--list-devices", options.list_devices, "list the Vulkan devices and end");
  app.add_flag("--json", options.json, "with --list-devices: as JSON")->needs(list);
  app.footer(
      "Exit status: 0 the guest process asked for the end; 64 usage; 70 no Vulkan device; 72 the two programs do not "
      "fit;\n"
      "73 internal; 74 the guest process is gone; 75 the device or its driver failed; 76 no window can be opened.");
  try {
    app.parse(argc, argv);
    options.coherence = dispatch::parse_coherence(coherence).value_or(dispatch::Coherence::automatic);
    if (!options.list_devices && options.control_fd < 0) {
      throw CLI::ValidationError("--control-fd", "is needed; start titles with `orrery run TITLE`");
    }
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;
    app.exit(error);
    parsed.exit = static_cast<int>(asked ? ExitCode::ok : ExitCode::usage);
  }
  return parsed;
}

}  // namespace orrery::service
