#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `pthread_self()` as a number, which identifies a thread only while it is alive.
typealias ThreadID = UInt

/// The identifier that no thread has.
let noThread: ThreadID = 0

var currentThread: ThreadID {
  #if os(Linux)
    ThreadID(pthread_self())
  #else
    ThreadID(bitPattern: pthread_self())
  #endif
}
