import CLibPQ
import Foundation

/// Reads from a connection that may be encrypted.
///
/// libpq reads as much of a TLS record as its buffer has room for, which is at least 8 KiB; a record has up to 16 KiB.
/// The rest is already decrypted and stays in OpenSSL, where it causes no socket event. An answer that ends with such a
/// record would never be complete. libpq's own blocking callers check `pgtls_read_pending` (PostgreSQL 15,
/// `pqReadData`).
enum EncryptedInput {
  private typealias PendingByteCount = @convention(c) (UnsafeMutableRawPointer) -> Int32

  /// `SSL_pending` of the OpenSSL that libpq is linked with. It is looked up at run time, because libpq's headers do
  /// not require those of OpenSSL.
  private static let pendingByteCount: PendingByteCount? = dlsym(nil, "SSL_pending").map {
    unsafeBitCast($0, to: PendingByteCount.self)
  }

  /// The number of further reads that empty a record of 16 KiB, at 8 KiB each, plus one that finds it empty.
  private static let readsPerRecord = 3

  /// Makes libpq read everything that has been received and decrypted. Bytes that the socket still holds make it
  /// readable.
  ///
  /// - Returns: False if the connection is broken.
  static func consume(_ connection: OpaquePointer) -> Bool {
    guard PQconsumeInput(connection) == 1 else { return false }
    if PQsslInUse(connection) == 1, let pendingByteCount, let session = PQsslStruct(connection, "OpenSSL") {
      while pendingByteCount(session) > 0 {
        guard PQconsumeInput(connection) == 1 else { return false }
      }
    } else if PQsslInUse(connection) == 1 || PQgssEncInUse(connection) == 1 {
      // Kerberos has packets of 16 KiB and no counterpart of `SSL_pending`.
      for _ in 0..<readsPerRecord {
        guard PQconsumeInput(connection) == 1 else { return false }
      }
    }
    return true
  }
}
