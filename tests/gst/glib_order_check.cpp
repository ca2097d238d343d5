// SPDX-License-Identifier: LGPL-2.1-or-later
// glib_order_check lock | queue | nothing: two threads share a number, in order by a lock of GLib, by a queue of GLib, or not at all.
// The thread sanitizer must find the last one and nothing in the others.
#include <cstring>
#include <thread>

#include <glib.h>

namespace {

int shared = 0;

void by_lock(bool locked) {
  GMutex mutex;
  g_mutex_init(&mutex);
  const auto count = [&] {
    for (int i = 0; i < 1000; ++i) {
      if (locked)
        g_mutex_lock(&mutex);
      ++shared;
      if (locked)
        g_mutex_unlock(&mutex);
    }
  };
  std::thread other(count);
  count();
  other.join();
  g_mutex_clear(&mutex);
}

void by_queue() {
  GAsyncQueue* queue = g_async_queue_new();
  std::thread other([queue] {
    (void)g_async_queue_pop(queue);
    ++shared;
  });
  ++shared;
  g_async_queue_push(queue, &shared);
  other.join();
  g_async_queue_unref(queue);
}

} // namespace

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "lock";
  if (std::strcmp(how, "queue") == 0)
    by_queue();
  else
    by_lock(std::strcmp(how, "lock") == 0);
  return shared > 0 ? 0 : 1;
}
