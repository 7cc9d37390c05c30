#include <libpq-fe.h>
// Declarations for the event loop of PostgresClient that Swift's Glibc module lacks.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
int pthread_setname_np(pthread_t thread, const char *name);
