/// The OID of a data type, as in `pg_type`.
///
///     func isJSON(_ value: PostgresValue) -> Bool {
///       value.type == .json || value.type == .jsonb
///     }
public struct PostgresType: RawRepresentable, Sendable, Hashable {
  /// The OID.
  public let rawValue: UInt32

  /// Creates a type from any OID. Types of extensions and enums have one of 16384 or above.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// `boolean`
  public static let bool = PostgresType(rawValue: 16)
  /// `bytea`
  public static let bytea = PostgresType(rawValue: 17)
  /// `smallint`
  public static let int2 = PostgresType(rawValue: 21)
  /// `integer`
  public static let int4 = PostgresType(rawValue: 23)
  /// `bigint`
  public static let int8 = PostgresType(rawValue: 20)
  /// `real`
  public static let float4 = PostgresType(rawValue: 700)
  /// `double precision`
  public static let float8 = PostgresType(rawValue: 701)
  /// `text`
  public static let text = PostgresType(rawValue: 25)
  /// `uuid`
  public static let uuid = PostgresType(rawValue: 2950)
  /// `timestamp with time zone`
  public static let timestamptz = PostgresType(rawValue: 1184)
  /// `json`
  public static let json = PostgresType(rawValue: 114)
  /// `jsonb`
  public static let jsonb = PostgresType(rawValue: 3802)

  static let char = PostgresType(rawValue: 18)
  static let name = PostgresType(rawValue: 19)
  static let oid = PostgresType(rawValue: 26)
  static let xid = PostgresType(rawValue: 28)
  static let xml = PostgresType(rawValue: 142)
  static let unknown = PostgresType(rawValue: 705)
  static let bpchar = PostgresType(rawValue: 1042)
  static let varchar = PostgresType(rawValue: 1043)
  static let cstring = PostgresType(rawValue: 2275)

  static let boolArray = PostgresType(rawValue: 1000)
  static let byteaArray = PostgresType(rawValue: 1001)
  static let int4Array = PostgresType(rawValue: 1007)
  static let textArray = PostgresType(rawValue: 1009)
  static let int8Array = PostgresType(rawValue: 1016)
  static let float8Array = PostgresType(rawValue: 1022)
  static let timestamptzArray = PostgresType(rawValue: 1185)
  static let uuidArray = PostgresType(rawValue: 2951)
  static let jsonbArray = PostgresType(rawValue: 3807)

  /// Whether the binary form is the text itself, as for the character types and for user-defined types (enums,
  /// `citext`).
  var isTextual: Bool {
    switch self {
    case .text, .varchar, .bpchar, .name, .unknown, .char, .json, .xml, .cstring: true
    default: rawValue >= 16384
    }
  }
}
