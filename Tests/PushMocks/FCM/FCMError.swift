/// An error of FCM HTTP v1.
///
/// Source: "FCM ErrorCode", "Admin error codes" and google.rpc.Status.
public struct FCMError: Sendable, Equatable {
  /// The status of the response.
  public var code: Int
  /// The canonical error code of Google, such as `NOT_FOUND`.
  public var status: String
  /// The code of FCM, such as `UNREGISTERED`; nil if the error is not one of FCM.
  public var errorCode: String?
  /// The field of the request that is wrong (google.rpc.BadRequest); nil for none.
  public var field: String?

  /// The device is gone.
  public static let unregistered = FCMError(code: 404, status: "NOT_FOUND", errorCode: "UNREGISTERED")
  /// The registration token is malformed.
  public static let invalidToken = FCMError(code: 400, status: "INVALID_ARGUMENT", errorCode: "INVALID_ARGUMENT")
  /// The registration token belongs to another project.
  public static let senderIDMismatch = FCMError(
    code: 403, status: "PERMISSION_DENIED", errorCode: "SENDER_ID_MISMATCH")
  /// There are too many messages.
  public static let quotaExceeded = FCMError(code: 429, status: "RESOURCE_EXHAUSTED", errorCode: "QUOTA_EXCEEDED")
  /// The service is overloaded.
  public static let unavailable = FCMError(code: 503, status: "UNAVAILABLE", errorCode: "UNAVAILABLE")
  /// The service has failed.
  public static let internalFailure = FCMError(code: 500, status: "INTERNAL", errorCode: "INTERNAL")
  /// The project has no valid key for the service of the device.
  public static let thirdPartyAuthFailure = FCMError(
    code: 401, status: "UNAUTHENTICATED", errorCode: "THIRD_PARTY_AUTH_ERROR")
  /// The error has no further description.
  public static let unspecified = FCMError(code: 400, status: "INVALID_ARGUMENT", errorCode: "UNSPECIFIED_ERROR")
  /// The access token is missing, unknown or expired.
  public static let unauthenticated = FCMError(code: 401, status: "UNAUTHENTICATED")
  /// The service account may not send messages.
  public static let permissionDenied = FCMError(code: 403, status: "PERMISSION_DENIED")
  /// The path is wrong.
  public static let notFound = FCMError(code: 404, status: "NOT_FOUND")

  /// Returns the error of a field that is wrong.
  public static func badRequest(_ field: String) -> FCMError {
    FCMError(code: 400, status: "INVALID_ARGUMENT", errorCode: "INVALID_ARGUMENT", field: field)
  }

  /// The documented response.
  public var response: MockResponse {
    var details: [String] = []
    if let errorCode {
      details.append(
        #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(errorCode)"}"#)
    }
    if let field {
      details.append(
        #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":"#
          + #"[{"field":"\#(field)","description":"Invalid value"}]}"#)
    }
    let list = details.isEmpty ? "" : #","details":[\#(details.joined(separator: ","))]"#
    return .json(
      #"{"error":{"code":\#(code),"message":"The mock refuses this.","status":"\#(status)"\#(list)}}"#, status: code)
  }
}
