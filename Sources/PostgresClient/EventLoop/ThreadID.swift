#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `pthread_self()` as a number, to be compared with others of threads that are alive.
typealias ThreadID = UInt

/// What no thread has.
let noThread: ThreadID = 0

var currentThread: ThreadID {
  #if os(Linux)
    ThreadID(pthread_self())
  #else
    ThreadID(bitPattern: pthread_self())
  #endif
}
