public import Foundation
public import News

/// What can stand between a caller and an answer of the store. None of it carries SQL or text of the database.
public enum StoreError: Error, Sendable, Equatable {
  /// A token no longer tells how to go on; `current` does.
  case tokenExpired(reason: TokenExpiry, current: SyncToken)
  /// The version of an `at` token has not come within the time allowed.
  case notReachedYet(SyncToken)
  /// There is no such topic.
  case unknownTopics([String])
  /// There are no such files, which an item says are its attachments.
  case unknownMedia([UUID])
  /// Readers no longer get the file.
  case mediaWithdrawn(MediaWithdrawal)
  /// Published items use the file: some of their ids.
  case mediaInUse([UUID])
  /// The item is not retracted, and so cannot be erased.
  case notRetracted
  /// There is, or ever was, nothing of the kind.
  case notFound
  /// The item was published and is no longer.
  case retracted(reason: RemovalReason, detail: String?)
  /// Something else already has the id or slug.
  case alreadyExists
  /// The revision is another one than the writer has seen.
  case preconditionFailed
  /// An overwrite without saying what is overwritten.
  case preconditionRequired
  /// The connection broke while the COMMIT was under way: the write may or may not have happened.
  case outcomeUnknown
  /// Looking for the words took longer than a search may.
  case searchTooBroad
  /// The database has settings in which an acknowledged write may not survive a crash, such as `fsync = off`.
  case unsafeDurability([String])
  /// The database cannot be reached, or is too busy to answer in time.
  case unavailable
  /// The database has ended the statement: it took longer than the session allows, or an operator cancelled it.
  case statementCancelled
}

/// Why a token is not good any more.
public enum TokenExpiry: String, Sendable {
  /// It belongs to a history that the database no longer has: a restore, a promotion, a clone.
  case epoch
  /// It belongs to another scope.
  case scope
  /// What happened since has been purged.
  case expired
  /// It is of a version that has not happened.
  case ahead
}
