export type { AddressClass, AddressKind } from './addresses.js';
export { classifyAddress, isAddressAllowed, isMetadataHost, reachedAddress } from './addresses.js';
export type { ArgumentCheck, ArgumentRefusal } from './argument-policy.js';
export { compileArgumentPolicy } from './argument-policy.js';
export {
  DEFAULT_RESULT_BUDGET_CHARS,
  resolveCallBudget,
  TRUNCATION_MARKER,
  truncateToBudget,
  truncationMarker,
} from './budget.js';
export type { ByteOrderMark } from './byte-order-mark.js';
export { byteOrderMarkOf, isMostlyUtf8, readByteOrderMark } from './byte-order-mark.js';
export { callListener } from './call-listener.js';
export { countOf, momentOf } from './call-options.js';
export { canonicalJson } from './canonical-json.js';
export { CHROMIUM_NAMES } from './chromium-names.js';
export {
  type ClosedSchema,
  type ClosedSchemaResult,
  type ClosedValue,
  compileClosedSchema,
} from './closed-schema.js';
export { copyBytes } from './copy-bytes.js';
export {
  compileCoveringHosts,
  compileCoveringPaths,
  coveringHostEntry,
  coveringPathEntry,
} from './covering-entry.js';
export type { DenyFloorOptions } from './deny-floor.js';
export { compileDenySet, denyFloor } from './deny-floor.js';
export type { DenySet } from './deny-set.js';
export { createDenySet } from './deny-set.js';
export { depthOf, MAX_PLAIN_DEPTH } from './depth.js';
export { EFFECTS, effectsOf } from './effects.js';
export type { VariableEffect } from './environment-variables.js';
export { variableEffect } from './environment-variables.js';
export { errorText } from './error-text.js';
export {
  causeOfAbort,
  causeOfResult,
  causeOfThrown,
  isToolErrorCode,
} from './failure-cause.js';
export type { LinkReader } from './follow-links.js';
export { followLinks } from './follow-links.js';
export type {
  ForwardableStorage,
  StorageAnswer,
  StorageChangeCall,
  StorageChangeOptions,
  StorageLook,
  StoragePlace,
} from './forwarding-storage.js';
export { ForwardingStorage } from './forwarding-storage.js';
export type { HeldStorageOptions } from './held-storage.js';
export { HeldStorage } from './held-storage.js';
export type { HostSet } from './host-sets.js';
export {
  compileHostCover,
  compileHostMeets,
  compileHostSet,
  compileNamedMachines,
  meetHostLists,
  resolveAllowedHosts,
} from './host-sets.js';
export type { HostPattern } from './hosts.js';
export {
  hostMatches,
  isIpLiteral,
  meetHosts,
  normalizeHost,
  parseHostPattern,
} from './hosts.js';
export {
  type ImageReading,
  MAX_IMAGE_BYTES,
  MAX_IMAGE_PIXELS,
  readImage,
} from './images/read-image.js';
export type { KvLimits } from './kv-rules.js';
export {
  assertKvKey,
  assertKvValue,
  compareCodePoints,
  DEFAULT_KV_LIMITS,
  incrementKvValue,
  kvExpiresAt,
} from './kv-rules.js';
export {
  hasMcpServer,
  isMcpToolName,
  MCP_BRIDGE_TOOLS,
  mcpServerOf,
  mcpServerPart,
  mcpToolName,
  mcpToolPrefix,
} from './mcp/mcp-names.js';
export type { McpCallAnswer, McpOrigin, McpResource } from './mcp/mcp-results.js';
export { McpResultParts, mcpToolResult, readMcpAnswer } from './mcp/mcp-results.js';
export type { HeldTool, McpToolDefinition } from './mcp/mcp-tool.js';
export { cleanMcpSchema, readMcpTool } from './mcp/mcp-tool.js';
export type { MeetOptions } from './meet-entries.js';
export { meetNetworkPolicies } from './meet-network.js';
export { meetPersonalities } from './meet-personalities.js';
export type { MemoryLimits } from './memory-rules.js';
export {
  applyMemoryChange,
  DEFAULT_MEMORY_LIMITS,
  isSameMemory,
  memoryHeadingKey,
  memorySizeChars,
  memoryText,
} from './memory-rules.js';
export { searchMemory } from './memory-search.js';
export { missingToolText } from './missing-tool.js';
export { editDistance, nearestName } from './nearest-name.js';
export type { NetworkConsents } from './network-consents.js';
export { isServicePort, networkConsents, whyNeverOpen } from './network-consents.js';
export { parametersForModels } from './object-schema.js';
export { once } from './once.js';
export type { NumberRule, OptionNames, OptionValues } from './options.js';
export {
  ABOVE_ZERO,
  assertNumbers,
  assertOptions,
  assertOptionValues,
  unknownOption,
  wrongOption,
} from './options.js';
export { parseJson } from './parse-json.js';
export type { PathSet } from './paths.js';
export {
  compilePathSet,
  isDeclarablePath,
  isWithin,
  MAX_PATH_BYTES,
  meetPathLists,
  meetPaths,
  normalizePath,
  pathAndParents,
  pathProblem,
  resolveReach,
} from './paths.js';
export { isPortAllowed } from './ports.js';
export { DEFAULT_PROCESS_LIMITS, PROCESS_LIMITS } from './process-limits.js';
export { discard, isThenable, unawaited } from './promises.js';
export type { ReachGuardOptions } from './reach-guard.js';
export { ReachGuard } from './reach-guard.js';
export type { RootLeads } from './root-leads.js';
export { leadOf } from './root-leads.js';
export type { HomeStanding, NamedRoot } from './runtime-home.js';
export { homeStanding, runtimeOwnNames } from './runtime-home.js';
export type { SearchableText, TextRank } from './search-rank.js';
export {
  EXACT_BONUS,
  RANKED_MATCHES,
  RECENCY_BONUS,
  RECENCY_HALF_LIFE_MS,
  rankTexts,
  searchScore,
} from './search-rank.js';
export { searchSnippet } from './search-snippet.js';
export type { SearchPhrase, SearchTerm } from './search-terms.js';
export { parseSearchQuery } from './search-terms.js';
export type { TextWord } from './search-words.js';
export { searchWords, TWO_WORD_CHARACTERS } from './search-words.js';
export {
  declaredRef,
  isSecretRef,
  isSecretRefPattern,
  meetSecretRefs,
  secretRefMatches,
} from './secret-refs.js';
export { secretSource } from './secret-sources.js';
export {
  assertHolds,
  assertLease,
  MAX_LEASE_MS,
  type SessionHold,
  sessionTaken,
} from './session-claims.js';
export type { MessageLimits, MessageRow } from './session-input.js';
export {
  assertRoles,
  checkedRef,
  cutText,
  messageRow,
  ownerIdentity,
  ownerOf,
} from './session-input.js';
export { isSameOwner } from './session-owner.js';
export { SessionReads } from './session-reads.js';
export type { Check } from './shape.js';
export {
  isAbortSignal,
  isAmount,
  isAnything,
  isAttachmentInfo,
  isBoolean,
  isCount,
  isFunction,
  isListOf,
  isObject,
  isOneOf,
  isShape,
  isString,
  isTrue,
} from './shape.js';
export {
  compileSourceTrust,
  isWritten,
  type ReadSource,
  type SourceTrust,
  trustedTools,
  WrittenPlaces,
} from './source-trust.js';
export type { Asking, FileIdentity, StorageGuard } from './storage-guard.js';
export { assertNotRevealed, enterPath, openGuard } from './storage-guard.js';
export { cleanLine, cleanText, hiddenIn, takenOutPattern, visibleText } from './text/clean-text.js';
export {
  hasControls,
  showControls,
  withoutControls,
  withoutEscapes,
} from './text/controls.js';
export { shorten, takeEnd, takeStart } from './text/cut-text.js';
export {
  hasInvisible,
  INVISIBLE_CLASS,
  showHidden,
  showInvisible,
  withoutHidden,
  withoutInvisible,
} from './text/invisible.js';
export { oneLine, plainLines } from './text/lines.js';
export { foldLookalikes, withoutFillers } from './text/lookalikes.js';
export { modelTokens, roleColons } from './text/model-tokens.js';
export { MAX_TIMER_MS } from './timers.js';
export { toolFilters } from './tool-filters.js';
export type { ExpandedToolset, LabelledTool } from './toolset.js';
export { coversTool, expandToolset } from './toolset.js';
export {
  isSourceEntry,
  parseTrustedSource,
  type TrustedSource,
  type TrustedSourceResult,
} from './trusted-source.js';
export {
  assertTurnKey,
  checkedSchedule,
  checkedTurn,
  type TurnRow,
  turnInputOf,
  wholeMs,
} from './turn-input.js';
export { Turns } from './turns.js';
export { isWebUrl, parseUrl, urlPort } from './urls.js';
export { indexedWords } from './word-stems.js';
