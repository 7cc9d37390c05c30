import Glibc

/// `pthread_self()` as a number, which identifies a thread only while it is alive.
typealias ThreadID = UInt

/// The identifier that no thread has.
let noThread: ThreadID = 0

var currentThread: ThreadID { ThreadID(pthread_self()) }
