// Reports jobs that take much processor time on the threads that all requests share: those of Swift's cooperative pool,
// of event loops, of PostgreSQL's sockets, and of editors.
//
// The library is loaded into an unchanged server with LD_PRELOAD. It stands in front of these functions:
//
// - dispatch_async_f() and dispatch_after_f(), by which Swift gives a job to the cooperative pool on Linux. A job begins and
//   ends with the function that it passes.
// - epoll_wait(), in which event loops wait, read(), with which they begin to work on a connection, and swift_job_run() and
//   swift_job_run_on_task_executor(), which run the steps of requests on them. A job is what a thread does between two
//   such calls: a thousand short steps in a row serve a thousand clients.
// - listen(). No request waits for the jobs that begin before it.
//
// A thread of its own looks at the threads with jobs every 5 ms. A job that has taken more than the limit is interrupted
// by a signal once, whose handler records where it is. At its end, the job is written to the file as lines
//
//     job pool|loop|executor MILLISECONDS
//     at MODULE OFFSET
//
// Environment: TIDINGS_JOB_WATCH, the file; TIDINGS_JOB_WATCH_MS, the limit in milliseconds (20).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAXIMUM_THREADS 1024
#define MAXIMUM_FRAMES 64

struct slot {
  _Atomic int is_used;
  pthread_t thread;
  clockid_t clock;
  // The processor time of the thread at the start of the job in nanoseconds; 0 without a job.
  _Atomic uint64_t start;
  _Atomic int is_recorded;
  int is_loop;
  int frame_count;
  void *frames[MAXIMUM_FRAMES];
};

static struct slot slots[MAXIMUM_THREADS];
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t slot_key;
static __thread struct slot *own;
static uint64_t limit = 20000000;
static int output = -1;
static _Atomic int is_listening;
static uintptr_t concurrency_start, concurrency_end;

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) return 0;
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// The slot of a thread is free again at its end. The watcher holds the lock while it looks at a thread.
static void leave(void *slot) {
  pthread_mutex_lock(&slots_lock);
  ((struct slot *)slot)->start = 0;
  ((struct slot *)slot)->is_used = 0;
  pthread_mutex_unlock(&slots_lock);
}

static struct slot *enter(void) {
  pthread_mutex_lock(&slots_lock);
  struct slot *slot = NULL;
  for (int index = 0; index < MAXIMUM_THREADS && !slot; index++) {
    if (!slots[index].is_used) slot = &slots[index];
  }
  if (slot) {
    slot->thread = pthread_self();
    pthread_getcpuclockid(slot->thread, &slot->clock);
    slot->start = 0;
    slot->is_used = 1;
  }
  pthread_mutex_unlock(&slots_lock);
  if (!slot) return NULL;
  pthread_setspecific(slot_key, slot);
  // The threads of Dispatch block all signals.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGRTMIN + 10);
  pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
  return slot;
}

static void begin(int is_loop) {
  if (output < 0 || !is_listening) return;
  if (!own) own = enter();
  if (!own) return;
  own->is_recorded = 0;
  own->is_loop = is_loop;
  own->frame_count = 0;
  own->start = nanoseconds(CLOCK_THREAD_CPUTIME_ID) + 1;
}

static void end(const char *kind) {
  if (!own || !own->start) return;
  uint64_t time = nanoseconds(CLOCK_THREAD_CPUTIME_ID) + 1 - own->start;
  own->start = 0;
  if (time <= limit) return;
  char text[16384];
  int length = snprintf(text, sizeof text, "job %s %.1f\n", kind, (double)time / 1e6);
  for (int index = 0; index < own->frame_count && length < (int)sizeof text - 512; index++) {
    Dl_info info;
    if (!dladdr(own->frames[index], &info) || !info.dli_fname) continue;
    length += snprintf(
      text + length, sizeof text - (size_t)length, "at %s 0x%lx\n", info.dli_fname,
      (unsigned long)((uintptr_t)own->frames[index] - (uintptr_t)info.dli_fbase));
  }
  // One write, so that the lines of two threads do not mix.
  if (write(output, text, (size_t)length) < 0) return;
}

static void record(int signal) {
  (void)signal;
  if (!own || !own->start || own->is_recorded) return;
  own->frame_count = backtrace(own->frames, MAXIMUM_FRAMES);
  own->is_recorded = 1;
}

static void *watch(void *unused) {
  (void)unused;
  for (;;) {
    usleep(5000);
    pthread_mutex_lock(&slots_lock);
    for (int index = 0; index < MAXIMUM_THREADS; index++) {
      struct slot *slot = &slots[index];
      uint64_t start = slot->start;
      if (!slot->is_used || !start || slot->is_recorded) continue;
      if (nanoseconds(slot->clock) > start + limit) pthread_kill(slot->thread, SIGRTMIN + 10);
    }
    pthread_mutex_unlock(&slots_lock);
  }
  return NULL;
}

static int find_concurrency(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  if (!info->dlpi_name || !strstr(info->dlpi_name, "libswift_Concurrency")) return 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[index];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    concurrency_start = info->dlpi_addr + header->p_vaddr;
    concurrency_end = concurrency_start + header->p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("TIDINGS_JOB_WATCH");
  const char *milliseconds = getenv("TIDINGS_JOB_WATCH_MS");
  if (!path) return;
  dl_iterate_phdr(find_concurrency, NULL);
  // Other programs that inherit the environment, such as a shell, are not watched.
  if (!concurrency_start) return;
  if (milliseconds) limit = strtoull(milliseconds, NULL, 10) * 1000000;
  if (pthread_key_create(&slot_key, leave) != 0) return;
  // The first call loads a library, which a signal handler must not do.
  void *frames[4];
  backtrace(frames, 4);
  struct sigaction action = {.sa_handler = record, .sa_flags = SA_RESTART};
  sigaction(SIGRTMIN + 10, &action, NULL);
  pthread_t thread;
  if (pthread_create(&thread, NULL, watch, NULL) != 0) return;
  output = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

struct job {
  void *context;
  void (*work)(void *);
};

static void run(void *boxed) {
  struct job job = *(struct job *)boxed;
  free(boxed);
  begin(0);
  job.work(job.context);
  end("pool");
}

static struct job *boxed(void *context, void (*work)(void *), const void *caller) {
  uintptr_t address = (uintptr_t)caller;
  if (output < 0 || address < concurrency_start || address >= concurrency_end) return NULL;
  struct job *job = malloc(sizeof *job);
  if (job) *job = (struct job){context, work};
  return job;
}

void dispatch_async_f(void *queue, void *context, void (*work)(void *)) {
  static void (*original)(void *, void *, void (*)(void *));
  if (!original) *(void **)&original = dlsym(RTLD_NEXT, "dispatch_async_f");
  struct job *job = boxed(context, work, __builtin_return_address(0));
  if (job) original(queue, job, run);
  else original(queue, context, work);
}

void dispatch_after_f(uint64_t when, void *queue, void *context, void (*work)(void *)) {
  static void (*original)(uint64_t, void *, void *, void (*)(void *));
  if (!original) *(void **)&original = dlsym(RTLD_NEXT, "dispatch_after_f");
  struct job *job = boxed(context, work, __builtin_return_address(0));
  if (job) original(when, queue, job, run);
  else original(when, queue, context, work);
}

int epoll_wait(int descriptor, struct epoll_event *events, int maximum, int timeout) {
  static int (*original)(int, struct epoll_event *, int, int);
  if (!original) *(void **)&original = dlsym(RTLD_NEXT, "epoll_wait");
  end("loop");
  int count = original(descriptor, events, maximum, timeout);
  int error = errno;
  begin(1);
  errno = error;
  return count;
}

// Begins another job of an event loop.
static void split(void) {
  if (!own || !own->start || !own->is_loop) return;
  end("loop");
  begin(1);
}

ssize_t read(int descriptor, void *bytes, size_t count) {
  static ssize_t (*original)(int, void *, size_t);
  if (!original) *(void **)&original = dlsym(RTLD_NEXT, "read");
  split();
  return original(descriptor, bytes, count);
}

// An executor has two words. The arguments are in the same registers as those of a C function.
void swift_job_run(void *job, void *identity, void *implementation) {
  static void (*original)(void *, void *, void *);
  if (!original) *(void **)&original = dlsym(RTLD_NEXT, "swift_job_run");
  split();
  original(job, identity, implementation);
  split();
}

void swift_job_run_on_task_executor(void *job, void *identity, void *implementation) {
  static void (*original)(void *, void *, void *);
  if (!original) *(void **)&original = dlsym(RTLD_NEXT, "swift_job_run_on_task_executor");
  // The threads of another executor wait without epoll_wait().
  int is_own_job = !own || !own->start;
  if (is_own_job) begin(0);
  split();
  original(job, identity, implementation);
  split();
  if (is_own_job) end("executor");
}

int listen(int descriptor, int backlog) {
  static int (*original)(int, int);
  if (!original) *(void **)&original = dlsym(RTLD_NEXT, "listen");
  is_listening = 1;
  return original(descriptor, backlog);
}
