#pragma once
// The process that is a machine: the first of its pid namespace, the container engine, and the end of everything when
// it ends. Containers are its children; their mounts live in namespaces of their own, so the kernel cleans up after a
// kill.

#include <span>

namespace gpuop::sim::node {

/// What a program is called with to become a machine's process; see RunMachine.
inline constexpr const char* kMachineApplet = "sim-machine";
/// The applet's word for the machine's container engine (engine_service.h).
inline constexpr const char* kEngineWord = "engine";

/// `sim-machine SOCKET FOLDER NAME`: makes namespaces, becomes the machine called NAME whose root is FOLDER, and obeys
/// the socket (a descriptor's number) until it closes. `sim-machine engine` is that machine's container engine. Never
/// called by people. Returns the exit status.
int RunMachine(std::span<char* const> args);

}  // namespace gpuop::sim::node
