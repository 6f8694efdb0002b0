// The OCI runtime that engines call, as a program that needs nothing of the machine it runs on.
#include <span>

#include "container/runtime/command.h"

int main(int argc, char** argv) {
  return gpuop::container::RunContainerRuntime({argv, static_cast<std::size_t>(argc)});
}
