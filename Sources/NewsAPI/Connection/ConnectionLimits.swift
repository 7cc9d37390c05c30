package import NIOCore

/// What a connection may take of the server's patience.
package struct ConnectionLimits: Sendable {
  /// From the first byte of a request to the end of its header.
  package var header = TimeAmount.seconds(10)
  /// Without a byte of a body that is due.
  package var bodyPause = TimeAmount.seconds(30)
  /// Bytes a second that a body must have on average, after the first `bodyPause`.
  package var bodyRate: Int64 = 1024
  /// Without a request. It is longer than the 60 s for which nginx keeps a connection to an upstream, so that it is
  /// nginx that closes, and never sends a request into a connection that is being closed here.
  package var idle = TimeAmount.seconds(75)
  /// How long, and for how many bytes, what a client still sends is thrown away after the last answer.
  package var linger = TimeAmount.seconds(5)
  package var lingeringBytes = 4 << 20
  /// How long answers may take to be made and to leave once the server has been told to end.
  package var ending = TimeAmount.seconds(20)

  package init() {}
}
