import CLibPQ
import Foundation

/// Reading from a connection that may be encrypted.
///
/// libpq reads as much of a TLS record as its buffer has room for, 8 KiB at least; a record has up to 16 KiB. The rest is
/// decrypted already and stays in OpenSSL, where no event of the socket tells of it: an answer that ends with such a
/// record would never be complete (PostgreSQL 15, `pqReadData`, whose blocking callers ask `pgtls_read_pending`).
enum EncryptedInput {
  private typealias PendingByteCount = @convention(c) (UnsafeMutableRawPointer) -> Int32

  /// `SSL_pending` of the OpenSSL that libpq is linked with. It is looked up, because libpq's headers do not require those
  /// of OpenSSL.
  private static let pendingByteCount: PendingByteCount? = dlsym(nil, "SSL_pending").map {
    unsafeBitCast($0, to: PendingByteCount.self)
  }

  /// The further reads that empty a record of 16 KiB, at 8 KiB each, and one that finds it empty.
  private static let readsPerRecord = 3

  /// Has libpq read all that has been received and decrypted. Bytes that the socket still holds make the socket readable.
  ///
  /// - Returns: false if the connection is broken.
  static func consume(_ connection: OpaquePointer) -> Bool {
    guard PQconsumeInput(connection) == 1 else { return false }
    if PQsslInUse(connection) == 1, let pendingByteCount, let session = PQsslStruct(connection, "OpenSSL") {
      while pendingByteCount(session) > 0 {
        guard PQconsumeInput(connection) == 1 else { return false }
      }
    } else if PQsslInUse(connection) == 1 || PQgssEncInUse(connection) == 1 {
      // Kerberos has packets of 16 KiB and no function like it.
      for _ in 0..<readsPerRecord {
        guard PQconsumeInput(connection) == 1 else { return false }
      }
    }
    return true
  }
}
