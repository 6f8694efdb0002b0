// The launcher as a program of its own, which needs no library.

#include "operands/launch/command.h"

int main(int argc, char** argv) {
  return gpuop::operands::launch::RunLaunch(std::span<char* const>(argv, static_cast<std::size_t>(argc)).subspan(1));
}
