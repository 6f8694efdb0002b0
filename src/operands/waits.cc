#include "operands/waits.h"

#include "operands/image.h"

namespace gpuop::operands {
namespace {

std::string Status(std::string_view file) { return std::string(kValidations).append("/").append(file); }

/// SELinux would keep a confined container from files of the host; spc_t is the type of those it does not confine.
SecurityContext RootWithoutPrivileges() {
  return {.allow_privilege_escalation = false,
          .read_only_root = true,
          .run_as_user = 0,
          .se_linux = SeLinux{.type = "spc_t"},
          .capabilities = Capabilities{.drop = {"ALL"}}};
}

}  // namespace

Volume LauncherVolume() { return EmptyVolume(kLauncherVolume); }

Result<Container> Waiter(std::string name, std::vector<std::string> args, const api::ClusterPolicySpec& policy,
                         const Facts& facts, PodSpec& pod) {
  ASSIGN(std::string image, OperatorImage(policy.validator, facts));
  AddPullSecrets(facts.operator_image.empty() ? policy.validator.pull_secrets : facts.operator_pull_secrets, pod);
  return Container{
      .name = std::move(name),
      .image = std::move(image),
      .pull_policy = PullPolicy(policy.validator.pull_policy),
      .command = {kLauncherProgram},
      .args = std::move(args),
      .resources = ResourcesOf(policy.validator.resources),
      .security = RootWithoutPrivileges(),
  };
}

Result<Container> WaitForToolkit(Mount mount, bool with_launcher, const api::ClusterPolicySpec& policy,
                                 const Facts& facts, PodSpec& pod) {
  std::vector<std::string> args = {"wait"};
  if (with_launcher) args.push_back(std::string("--install=") + kLauncherFolder);
  args.push_back(Status("toolkit-ready"));
  ASSIGN(Container out, Waiter("toolkit-validation", std::move(args), policy, facts, pod));
  out.mounts = {std::move(mount)};
  if (with_launcher) {
    out.mounts.push_back(LauncherMount(false));
    pod.AddVolume(LauncherVolume());
  }
  return out;
}

Result<Container> BringLauncher(const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod) {
  ASSIGN(Container out, Waiter("launcher", {"install", kLauncherFolder}, policy, facts, pod));
  out.mounts = {LauncherMount(false)};
  pod.AddVolume(LauncherVolume());
  return out;
}

Result<Container> ValidatorInit(std::string name, Env env, const api::ClusterPolicySpec& policy, const Facts& facts,
                                PodSpec& pod) {
  ASSIGN(std::string image, ResolveImage(policy.validator, "VALIDATOR_IMAGE", facts, "spec.validator"));
  AddPullSecrets(policy.validator.pull_secrets, pod);
  return Container{
      .name = std::move(name),
      .image = std::move(image),
      .pull_policy = PullPolicy(policy.validator.pull_policy),
      .command = {"nvidia-validator"},
      .env = std::move(env),
      .resources = ResourcesOf(policy.validator.resources),
      .security = PrivilegedRoot(),
  };
}

Result<Container> DriverValidation(const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod) {
  const Paths paths = PathsOf(policy.host_paths);
  Env env{{.name = "WITH_WAIT", .value = "true"},
          {.name = "COMPONENT", .value = "driver"},
          NodeName(),
          FieldVar("OPERATOR_NAMESPACE", "metadata.namespace")};
  if (paths.driver_install_dir != kDefaultDriverInstallDir) {
    env.Set("DRIVER_INSTALL_DIR", paths.driver_install_dir);
    env.Set("DRIVER_INSTALL_DIR_CTR_PATH", paths.driver_install_dir);
  }
  env.Set(EnvOf(policy.validator.driver.env));
  ASSIGN(Container out, ValidatorInit("driver-validation", std::move(env), policy, facts, pod));
  out.security->se_linux = SeLinux{.level = "s0"};
  out.mounts = {
      HostRootMount(),
      {.name = "driver-install-dir", .path = paths.driver_install_dir, .propagation = std::string(kHostToContainer)},
      ValidationsMount(kBidirectional),
      {.name = "host-dev-char", .path = "/host-dev-char"}};
  pod.AddVolume(HostRoot(paths));
  pod.AddVolume(DriverInstallDir(paths));
  pod.AddVolume(Validations());
  const bool other_root = paths.host_root != "/";
  pod.AddVolume(HostVolume("host-dev-char", other_root ? paths.host_root + "/dev/char" : "/dev/char"));
  return out;
}

std::vector<Rule> NodeReportRules() {
  return {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get"}},
          {.groups = {""}, .resources = {"nodes/status"}, .verbs = {"patch"}},
          {.groups = {""}, .resources = {"events"}, .verbs = {"create"}}};
}

std::vector<std::string> AfterDriver(std::string program, std::vector<std::string> more) {
  std::vector<std::string> out = {kLauncher, "exec", "--wait=" + Status("driver-ready"),
                                  "--env-file=" + Status("driver-ready")};
  out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  out.emplace_back("--");
  out.push_back(std::move(program));
  return out;
}

}  // namespace gpuop::operands
