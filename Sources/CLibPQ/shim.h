#include <libpq-fe.h>
// Swift's Glibc module has no epoll; PostgresClient waits for the sockets of libpq with it.
#include <sys/epoll.h>
