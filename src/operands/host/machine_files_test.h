#pragma once
// A machine's files as tests need them.

#include <gtest/gtest.h>

#include <string>

#include "os/fake_fs.h"

namespace gpuop::operands::host {

/// Removes a folder with all that is in it.
inline void RemoveTree(os::FakeFs& fs, const std::string& path) {
  for (const std::string& name : fs.List(path).value_or(std::vector<std::string>())) {
    const std::string child = path + "/" + name;
    const auto info = fs.Stat(child);
    if (info && info->type == os::FileType::kFolder)
      RemoveTree(fs, child);
    else
      EXPECT_TRUE(fs.Remove(child));
  }
  EXPECT_TRUE(fs.Remove(path));
}

/// A host with a working driver and `gpus` GPUs at 0000:07:00.0 and on.
inline void PutMachine(os::FakeFs& fs, unsigned gpus) {
  fs.Put("/proc/version", "Linux version 5.15.0-1 (buildd) (gcc 11) #1 SMP\n");
  fs.Put("/proc/modules", "nvidia_uvm 1 0 - Live 0x0\nnvidia 1 1 nvidia_uvm, Live 0x0\n");
  fs.Put("/proc/devices",
         "Character devices:\n  1 mem\n195 nvidia\n195 nvidiactl\n236 nvidia-caps\n510 nvidia-uvm\n\nBlock devices:\n  "
         "7 loop\n");
  fs.Put("/sys/module/nvidia/version", "550.163.01\n");
  fs.Put("/sys/bus/pci/drivers/nvidia/module", "");
  fs.Put("/proc/driver/nvidia/version",
         "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01  Tue Apr  8 12:41:17 UTC 2025\n");
  fs.Put("/lib/modules/5.15.0-1/updates/dkms/nvidia.ko", std::string("ELF\0vermagic=5.15.0-1 SMP mod_unload\0", 37));
  fs.Put("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.163.01", "ELF");
  EXPECT_TRUE(fs.Symlink("libnvidia-ml.so.550.163.01", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"));
  for (const char* const node : {"/dev/nvidiactl", "/dev/nvidia-uvm"}) fs.Put(node, "");
  for (unsigned i = 0; i < gpus; ++i) {
    const std::string address = "0000:0" + std::to_string(7 + i) + ":00.0", folder = "/sys/bus/pci/devices/" + address;
    fs.Put(folder + "/vendor", "0x10de\n");
    fs.Put(folder + "/device", "0x20b0\n");
    fs.Put(folder + "/class", "0x030200\n");
    fs.Put(folder + "/config", "\xde\x10\xb0\x20");
    EXPECT_TRUE(fs.Symlink("../../../bus/pci/drivers/nvidia", folder + "/driver"));
    fs.Put("/proc/driver/nvidia/gpus/" + address + "/information",
           "Model: \t\t A100\nDevice Minor: \t " + std::to_string(i) + "\n");
    fs.Put("/dev/nvidia" + std::to_string(i), "");
  }
}

/// The same host without the kernel module.
inline void UnloadDriver(os::FakeFs& fs) {
  fs.Put("/proc/modules", "overlay 1 0 - Live 0x0\n");
  RemoveTree(fs, "/sys/module");
  RemoveTree(fs, "/proc/driver");
  RemoveTree(fs, "/dev");
}

}  // namespace gpuop::operands::host
