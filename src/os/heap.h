#pragma once

namespace gpuop::os {

/// For programs that mostly wait, before they start threads: one heap for all threads, of which large pieces go back
/// to the system as soon as they are free.
void KeepHeapSmall();

/// Gives what is free inside the heap back to the system.
void TrimHeap();

/// For the end of a piece of work after which a small program waits for long: trims the heap, and lets go of the code
/// and constants of the program and its libraries. They stay in the system's cache of files, which all processes share,
/// and what is used again is mapped again when it is touched: some microseconds for each 64 KiB. A small program that
/// has started once holds little else. Breakpoints of a debugger are lost.
void SettleDown();

}  // namespace gpuop::os
