/// The keys of JSON, looked at before Foundation reads it.
enum JSONKeys {
  /// Foundation keeps the members of an object by key. To hash a key takes time that grows with the square of its combining
  /// marks: one of a megabyte would take minutes.
  static let maximumBytes = 1024

  /// Whether a key is longer than `maximumBytes`. Of what is no JSON, anything may be said.
  static func areTooLong(in json: [UInt8]) -> Bool {
    json.withUnsafeBufferPointer { json in
      var index = 0
      while index < json.count {
        guard json[index] == UInt8(ascii: "\"") else {
          index += 1
          continue
        }
        let start = index + 1
        index = start
        while index < json.count, json[index] != UInt8(ascii: "\"") {
          index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        let length = index - start
        index += 1
        guard length > maximumBytes else { continue }
        var next = index
        while next < json.count, json[next] <= 0x20 { next += 1 }
        if next < json.count, json[next] == UInt8(ascii: ":") { return true }
      }
      return false
    }
  }
}
