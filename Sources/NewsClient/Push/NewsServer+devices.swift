import Foundation
import HTTPTransfer
import News

/// The requests about pushes. No other request names a device.
extension NewsServer {
  /// Fetches the push services of the server.
  ///
  /// - Throws: `FetchError`, `CancellationError`.
  func pushOffer() async throws -> PushOffer {
    var meter = HTTPRequester.Meter()
    let response = try await requester.get(location("push", []), meter: &meter)
    guard response.head.status == 200 else { throw refusal(response) }
    return try decode(PushOffer.self, response)
  }

  /// Registers a device.
  ///
  /// - Throws: `FetchError`, `CancellationError`.
  func register(_ registration: DeviceRegistration) async throws -> DeviceCredentials {
    try decode(DeviceCredentials.self, try await send("POST", "devices", registration, status: 201))
  }

  /// Renews or changes the registration of a device.
  ///
  /// - Returns: nil if the server does not know the device.
  /// - Throws: `FetchError`, `CancellationError`.
  func renew(_ device: DeviceCredentials, _ registration: DeviceRegistration) async throws -> DeviceCredentials? {
    do {
      return try decode(
        DeviceCredentials.self, try await send("PUT", Self.path(device), registration, secret: device.secret))
    } catch let error as FetchError where error.status == 404 {
      return nil
    }
  }

  /// Removes a device. An unknown one has been removed before.
  ///
  /// - Throws: `FetchError`, `CancellationError`.
  func remove(_ device: DeviceCredentials) async throws {
    do {
      _ = try await send("DELETE", Self.path(device), String?.none, secret: device.secret, status: 204)
    } catch let error as FetchError where error.status == 404 {
      // It is what was asked for.
    }
  }

  /// Sends the code of the first push of a device.
  ///
  /// - Returns: Whether the server knows the device and the code.
  /// - Throws: `FetchError`, `CancellationError`.
  func confirm(_ device: DeviceCredentials, code: String) async throws -> Bool {
    do {
      return try await put("confirmation", ["code": code], device)
    } catch let error as FetchError where error.status == 422 {
      return false
    }
  }

  /// Reports the token of a device.
  ///
  /// - Returns: Whether the server knows the device.
  /// - Throws: `FetchError`, `CancellationError`.
  func report(_ report: DeviceReport, of device: DeviceCredentials) async throws -> Bool {
    try await put("state", report, device)
  }

  private func put(_ resource: String, _ content: some Encodable, _ device: DeviceCredentials) async throws -> Bool {
    do {
      _ = try await send("PUT", Self.path(device) + "/" + resource, content, secret: device.secret, status: 204)
      return true
    } catch let error as FetchError where error.status == 404 {
      return false
    }
  }

  private static func path(_ device: DeviceCredentials) -> String { "devices/\(device.id.uuidString.lowercased())" }

  private func send(
    _ method: String, _ path: String, _ content: (some Encodable)?, secret: String? = nil, status: Int = 200
  ) async throws -> HTTPRequester.Response {
    var meter = HTTPRequester.Meter()
    let authorization = secret.map { [HTTPHeader("Authorization", "Bearer \($0)")] } ?? []
    let response = try await requester.send(
      json: try content.map { try NewsJSON.encode($0) } ?? Data(), to: location(path, []), method: method,
      headers: authorization, meter: &meter)
    guard response.head.status == status else { throw refusal(response) }
    return response
  }
}
