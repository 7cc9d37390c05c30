package import NIOCore

/// The timeouts and byte limits of a connection.
package struct ConnectionLimits: Sendable {
  /// The time from the first byte of a request to the end of its header.
  package var headerTimeout = TimeAmount.seconds(10)
  /// The time without a byte of a body that is due.
  package var bodyIdleTimeout = TimeAmount.seconds(30)
  /// The average rate that a body must have after the first `bodyIdleTimeout`, in bytes per second.
  package var minimumBodyRate: Int64 = 1024
  /// The time without a request. It is longer than the 60 s for which nginx keeps a connection to an upstream. So nginx
  /// closes first, and never sends a request into a connection that is being closed here.
  package var idleTimeout = TimeAmount.seconds(75)
  /// The time for which input is discarded after the last response.
  package var lingerTimeout = TimeAmount.seconds(5)
  /// The number of bytes that are discarded after the last response.
  package var maximumLingeringBytes = 4 << 20
  /// The time for which a connection still takes a request once the server shuts down. Its response has `Connection: close`.
  /// A proxy sends requests into connections that it knows as open, and repeats a GET whose connection was closed, but not
  /// a POST. Afterwards, the idle connections are closed.
  package var drainTimeout = TimeAmount.seconds(1)
  /// The time for pending responses to be made and sent once the server shuts down.
  package var shutdownTimeout = TimeAmount.seconds(20)

  /// Creates limits with default values.
  package init() {}
}
