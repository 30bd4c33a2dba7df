#include "service_process.hpp"

namespace orrery::service::test {
namespace {

TEST(CommandLine, help_names_the_options_and_ends_with_zero) {
  const auto ended = run_orrery_gpu({"--help"});
  EXPECT_EQ(ended.status, 0);
  for (const char* option : {"--control-fd", "--gpu", "--cpu", "--list-devices", "--patience", "--validation"}) {
    EXPECT_NE(ended.output.find(option), std::string::npos) << option;
  }
}

TEST(CommandLine, mistakes_are_usage_errors_that_say_what_to_do) {
  const std::vector<std::vector<std::string>> mistakes{{},
                                                       {"--no-such-option"},
                                                       {"--control-fd", "x"},
                                                       {"--control-fd", "0"},
                                                       {"--control-fd", "999"},
                                                       {"--control-fd", "3", "--cpu", "--gpu", "0"},
                                                       {"--control-fd", "3", "--patience", "0"},
                                                       {"--json"}};
  for (const auto& arguments : mistakes) {
    const auto ended = run_orrery_gpu(arguments);
    EXPECT_EQ(ended.status, 64) << ended.output;
    EXPECT_GT(ended.output.size(), 20u);
  }
}

TEST(CommandLine, devices_are_listed_for_people_and_for_programs) {
  EXPECT_EQ(run_orrery_gpu({"--list-devices"}).status, 0);
  const auto json = run_orrery_gpu({"--list-devices", "--json"});
  EXPECT_EQ(json.status, 0);
  EXPECT_TRUE(json.output.starts_with("[")) << json.output;
}

}  // namespace
}  // namespace orrery::service::test
