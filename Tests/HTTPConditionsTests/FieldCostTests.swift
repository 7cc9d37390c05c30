import HTTPConditions
import HTTPTypes
import TestKit
import Testing

@Suite struct `The cost of header fields` {
  private static let pieces = [
    "\"a\",", "W/\"a\",", ",", " ,", "\"", "a", "*,", "gzip;q=0.5,", "gzip ; q=", "bytes=0-1,", "0-1,", "-", "=", ";",
    "\t", "\\",
    "\"a b", "W/", "max-age=1,",
  ]

  private static let names: [HTTPField.Name] = [
    .ifMatch, .ifNoneMatch, .acceptEncoding, .range, .ifRange, .ifModifiedSince,
  ]

  @Test(arguments: names, pieces)
  func `The time is proportional to the size`(_ name: HTTPField.Name, _ piece: String) {
    let make = { (size: Int) in
      var fields = HTTPFields()
      let start = name == .range ? "bytes=" : ""
      fields.append(HTTPField(name: name, value: start + String(repeating: piece, count: size / piece.utf8.count)))
      return fields
    }
    let growth = growth(from: 16_000, of: make) { fields in
      _ = EntityTagList(fields: fields, name: name)
      _ = AcceptEncoding(fields: fields).preferredCoding(among: [.gzip, .identity])
      _ = RangeRequest(fields: fields, method: .get, length: 1000)
      _ = Preconditions(fields: fields)
    }
    #expect(growth < linearGrowth)
  }

  @Test(arguments: names)
  func `Many lines take no more time than one`(_ name: HTTPField.Name) {
    let make = { (size: Int) in
      var fields = HTTPFields()
      for _ in 0..<size { fields.append(HTTPField(name: name, value: "\"a\"")) }
      return fields
    }
    let growth = growth(from: 1000, of: make) { fields in
      _ = EntityTagList(fields: fields, name: name)
      _ = AcceptEncoding(fields: fields)
      _ = RangeRequest(fields: fields, method: .get, length: 1000)
      _ = Preconditions(fields: fields)
    }
    #expect(growth < linearGrowth)
  }
}
