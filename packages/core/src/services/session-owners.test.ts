import { sessionTaken } from '@ethosagent/policy';
import { describe, expect, it } from 'vitest';
import { SessionOwners } from './session-owners.js';

function world() {
  const owners = new SessionOwners();
  const held = { epoch: 1 };
  const claim = (own: number) => () => {
    if (held.epoch !== own) throw sessionTaken(own);
  };
  const isTaken = () => {
    try {
      owners.assertOwned('s');
      return false;
    } catch {
      return true;
    }
  };
  return { owners, held, claim, isTaken };
}

describe('SessionOwners', () => {
  it('looks at the lease as long as one of several batches under it runs', () => {
    const { owners, held, claim, isTaken } = world();
    const lease = claim(1);
    const leaves = [owners.enter('s', lease), owners.enter('s', lease)];
    leaves[1]?.();
    expect(isTaken()).toBe(false);
    held.epoch = 2;
    expect(isTaken()).toBe(true);
    leaves[0]?.();
    expect(isTaken()).toBe(true);
  });

  it('refuses nothing between the batches of a session that was not lost', () => {
    const { owners, held, claim, isTaken } = world();
    owners.enter('s', claim(1))();
    held.epoch = 2;
    expect(isTaken()).toBe(false);
  });

  it('forgets that a session was lost when a batch holds it again, or the session ends', () => {
    const { owners, held, claim, isTaken } = world();
    const leave = owners.enter('s', claim(1));
    held.epoch = 2;
    leave();
    expect(isTaken()).toBe(true);
    owners.enter('s', claim(1));
    expect(isTaken()).toBe(true);
    const again = owners.enter('s', claim(2));
    expect(isTaken()).toBe(false);
    held.epoch = 3;
    again();
    expect(isTaken()).toBe(true);
    owners.forget('s');
    expect(isTaken()).toBe(false);
  });
});
