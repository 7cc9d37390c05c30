/// The connection of a request whose body is a form.
package protocol FormBodyContext: Sendable {
  /// Requests the body: sends 100 (Continue) to a client that waits for it (RFC 9110 section 10.1.1).
  func awaitBody()

  /// Verifies that a body that was read to its end is complete.
  ///
  /// - Throws: An error if the connection ended before the body did.
  func requireWholeBody() async throws
}
