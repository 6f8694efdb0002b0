// What holds a Pod's namespaces: waits until it is told to end.
#include <signal.h>
#include <unistd.h>

static void End(int signal) {
  (void)signal;
  _exit(0);
}

int main(void) {
  signal(SIGTERM, End);
  signal(SIGINT, End);
  for (;;) pause();
}
