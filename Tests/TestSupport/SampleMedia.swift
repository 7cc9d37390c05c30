import Crypto
package import Foundation

/// Sample files, valid only as far as the server inspects them.
package enum SampleMedia {
  /// Returns the header of a PNG, followed by bytes that depend on the seed and do not repeat.
  package static func png(bytes: Int = 1000, width: UInt32 = 640, height: UInt32 = 480, seed: UInt64 = 1) -> Data {
    var data = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + Array("IHDR".utf8))
    for number in [width, height] { withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) } }
    var state = seed
    data.reserveCapacity(bytes + 8)
    while data.count < bytes {
      // Xorshift (Marsaglia: Xorshift RNGs, 2003).
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      withUnsafeBytes(of: state) { data.append(contentsOf: $0) }
    }
    return data.prefix(bytes)
  }
}

/// Runs the body with the path of a folder that does not exist yet, and removes the folder afterwards.
package func withMediaFolder<Value: Sendable>(_ body: @Sendable (URL) async throws -> Value) async throws -> Value {
  let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-media-\(UUID())")
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder)
}

/// Returns the names of the files in a folder, sorted, without the label of a folder for files.
package func names(in folder: URL) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "library.json" }.sorted()
}

extension Data {
  /// The SHA-256 digest in hexadecimal.
  package var sha256: String {
    SHA256.hash(data: self).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
