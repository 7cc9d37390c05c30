internal import Foundation

/// Converts bytes of one encoding to UTF-8, piece by piece, with the C library's `iconv`.
final class CharsetConverter {
  private let descriptor: iconv_t
  /// The width of a code unit in bytes: the part of an invalid sequence that is skipped.
  private let unit: Int
  /// The start of an incomplete character.
  private var held: [UInt8] = []
  /// The number of invalid sequences so far.
  private(set) var replacements = 0

  /// - Parameter unit: The width of a code unit in bytes.
  /// - Returns: nil if the C library does not know the encoding.
  init?(_ encoding: String, unit: Int = 1) {
    guard let descriptor = iconv_open("UTF-8", encoding), Int(bitPattern: descriptor) != -1 else { return nil }
    self.descriptor = descriptor
    self.unit = unit
  }

  deinit { iconv_close(descriptor) }

  /// Whether an encoding consists of single bytes, those below 128 as in ASCII.
  static func isOfSingleBytes(_ encoding: String) -> Bool {
    guard let converter = CharsetConverter(encoding) else { return false }
    let ascii = Array(UInt8(0x20)..<0x7F) + [0x20]
    guard converter.convert(ascii, isLast: true) == ascii else { return false }
    return (UInt8.min...UInt8.max).allSatisfy { byte in
      _ = converter.convert([byte], isLast: false)
      return converter.held.isEmpty
    }
  }

  /// Converts more bytes. Invalid sequences become U+FFFD.
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

  /// - Returns: The number of bytes read, and the error that ended the step, or 0.
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
