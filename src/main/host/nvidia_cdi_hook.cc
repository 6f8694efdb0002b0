// The hook of our CDI specs, as a program that needs nothing of the machine it runs on.
#include <unistd.h>

#include <cstdlib>
#include <span>
#include <string>

#include "container/hooks/command.h"

int main(int argc, char** argv) {
  // A runtime may hand on the image's environment: none of it is ours.
  ::clearenv();
  ::setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
  const std::span<char* const> args(argv, static_cast<std::size_t>(argc));
  return gpuop::container::RunCdiHook(args.empty() ? args : args.subspan(1));
}
