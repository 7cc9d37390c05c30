internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

/// Turns bytes of one encoding into UTF-8, in pieces, with the C library's `iconv`.
final class CharsetConverter {
  private let descriptor: iconv_t
  /// What is left out where a piece of input has no meaning: the width of a code unit.
  private let unit: Int
  /// The start of a character that has not ended.
  private var held: [UInt8] = []
  /// How many pieces of input had no meaning.
  private(set) var replacements = 0

  /// - Parameter unit: The width of a code unit, in bytes.
  /// - Returns: nil for an encoding that the C library does not know.
  init?(_ encoding: String, unit: Int = 1) {
    guard let descriptor = iconv_open("UTF-8", encoding), Int(bitPattern: descriptor) != -1 else { return nil }
    self.descriptor = descriptor
    self.unit = unit
  }

  deinit { iconv_close(descriptor) }

  /// Converts more bytes; what has no meaning becomes U+FFFD.
  func convert(_ bytes: some Collection<UInt8>, isLast: Bool) -> [UInt8] {
    var input = held.map { CChar(bitPattern: $0) } + bytes.map { CChar(bitPattern: $0) }
    var output: [UInt8] = []
    output.reserveCapacity(input.count + input.count / 2)
    var start = 0
    while start < input.count {
      let (read, problem) = step(&input, from: start, to: &output)
      start += read
      if problem == EINVAL && !isLast { break }
      guard problem == EINVAL || problem == EILSEQ else { continue }
      replacements += 1
      output += "\u{FFFD}".utf8
      start = min(start + unit, input.count)
    }
    held = input[start...].map { UInt8(bitPattern: $0) }
    return output
  }

  /// - Returns: How many bytes were read, and the error that ended it, 0 for none.
  private func step(_ input: inout [CChar], from start: Int, to output: inout [UInt8]) -> (read: Int, problem: CInt) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
      input.withUnsafeMutableBufferPointer { input in
        var source = input.baseAddress.map { $0 + start }
        var sourceLeft = input.count - start
        var target = buffer.baseAddress
        var targetLeft = buffer.count
        let result = iconv(descriptor, &source, &sourceLeft, &target, &targetLeft)
        let problem = result == -1 ? errno : 0
        output += UnsafeRawBufferPointer(buffer).prefix(buffer.count - targetLeft)
        return (input.count - start - sourceLeft, problem)
      }
    }
  }
}
