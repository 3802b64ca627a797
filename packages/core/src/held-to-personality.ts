/** Why something ended that had the reach of a personality from before. */
export const PERSONALITY_CHANGED = 'the personality has changed';

/** Whether something runs under a personality, or under several that include it, as sub-agents do. */
export function isHeldTo(
  { personalityId: id }: { readonly personalityId?: string | undefined },
  personalityId: string,
): boolean {
  return id === personalityId || id?.split('/').includes(personalityId) === true;
}
