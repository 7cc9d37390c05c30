#include <libpq-fe.h>
// What Swift's Glibc module lacks of what PostgresClient waits for the sockets of libpq with.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
int pthread_setname_np(pthread_t thread, const char *name);
