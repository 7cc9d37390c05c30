public import Foundation
public import News

/// An error of a store operation. No case carries SQL or database messages.
public enum StoreError: Error, Sendable, Equatable {
  /// The changes after a token are unavailable. `current` is the token to start again from.
  case tokenExpired(reason: TokenExpiry, current: SyncToken)
  /// The version of an `at` token was not reached within the timeout.
  case notReachedYet(SyncToken)
  /// The topics do not exist.
  case unknownTopics([String])
  /// The fields of a write contradict each other, or the state of the item.
  case invalidFields([FieldError])
  /// The write concerns an item that readers see or will see, and its author may not publish.
  case publishingNotAllowed
  /// The item has topics, before or after the write, that are not among those to which its author is restricted. It has none
  /// at all if the first list is empty.
  case topicsNotAllowed([String], allowed: [String])
  /// Attachments refer to unknown files.
  case unknownMedia([UUID])
  /// The file is no longer available to readers.
  case mediaWithdrawn(MediaWithdrawal)
  /// Published items use the file. The ids are some of theirs.
  case mediaInUse([UUID])
  /// Items in states other than `retracted` have the topic: this number, or more than 10,000.
  case topicInUse(items: Int)
  /// The item is not retracted and therefore cannot be erased.
  case notRetracted
  /// The resource does not exist and never did.
  case notFound
  /// The item was published and no longer is.
  case retracted(reason: RemovalReason, detail: String?)
  /// The id or slug is taken by a resource with other content.
  case alreadyExists
  /// A subscription to the address exists, with this id.
  case alreadyFollowed(UUID)
  /// The first request with the same `Idempotency-Key` is being carried out.
  case requestInProgress
  /// An earlier request with the same `Idempotency-Key` had another body.
  case idempotencyKeyReused
  /// The history of the item begins after the revision.
  case revisionRemoved
  /// The answer to the request was erased together with an item in it.
  case answerErased
  /// The subscription is paused, so that its feed is not polled.
  case subscriptionPaused
  /// The webhook is paused, so that nothing is sent to it.
  case webhookPaused
  /// There are as many webhooks as there may be: this number.
  case webhookLimit(Int)
  /// The items of a batch have more than this number of bytes.
  case batchTooLarge(maximumBytes: Int)
  /// The key has as many unfinished uploads, or as many bytes in them, as it may have.
  case uploadLimit
  /// The resource does not match the writer's precondition.
  case preconditionFailed
  /// The write overwrites a resource and has no precondition.
  case preconditionRequired
  /// The connection was lost during COMMIT. The write may or may not have happened.
  case outcomeUnknown
  /// The search exceeded its timeout.
  case searchTooBroad
  /// The database has settings that may lose an acknowledged write in a crash, such as `fsync = off`.
  case unsafeDurability([String])
  /// The database cannot be reached, or is too busy to answer in time.
  case unavailable
  /// The database answers, but accepts no writes.
  case writesRefused(WriteObstacle)
  /// The database cancelled the statement: it exceeded the timeout of the session, or an operator cancelled it.
  case statementCancelled
}

/// The reason why a token is no longer valid.
public enum TokenExpiry: String, Sendable {
  /// The token belongs to a history that the database no longer has, as after a restore, a promotion or in a clone.
  case epoch
  /// The token belongs to another scope.
  case scope
  /// Changes after the token have been purged.
  case expired
  /// The token names a version that does not exist yet.
  case ahead
}
