import { describe, expect, it } from 'vitest';
import { contextPlan } from './context-plan.js';
import { correction, promptTokens, textTokens } from './estimate.js';

describe('contextPlan', () => {
  it('has the window of the model, room for an answer, and a share', () => {
    expect(contextPlan({ model: 'anthropic/claude-sonnet-4.5' })).toEqual({
      window: 200_000,
      isAssumed: false,
      limit: 184_000,
      trigger: 160_000,
      nativeAt: 160_000,
      keepTurns: 3,
      summarise: true,
      native: [],
      pageChars: 16_000,
    });
  });

  it('is what the host says', () => {
    const plan = contextPlan({
      model: 'x/y',
      context: { window: 10_000, at: 0.5 },
      modelSettings: { maxOutputTokens: 2_000 },
    });
    expect(plan).toMatchObject({ window: 10_000, limit: 8_000, trigger: 5_000 });
    expect(contextPlan({ model: 'x/y', context: false })).toBe(undefined);
  });

  it('waits for the provider where that does it itself', () => {
    const context = { native: ['clear'] as const };
    const plan = contextPlan({ model: 'anthropic/claude-sonnet-4.5', context });
    expect(plan).toMatchObject({ trigger: 184_000, nativeAt: 160_000 });
  });

  it.each([
    { window: 0 },
    { window: Number.NaN },
    { reserve: -1 },
    { window: 1_000, reserve: 1_000 },
    { at: 0 },
    { at: 1.1 },
    { keepTurns: -1 },
    { keepTurns: 1.5 },
    { native: ['all'] },
    { native: ['clear'] },
    { summarise: 'yes' },
    { windows: 5 },
  ])('refuses %j', (context) => {
    expect(() => contextPlan({ model: 'x/y', context: Object(context) })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });
});

describe('estimates', () => {
  it('go by bytes, so that other scripts count for more', () => {
    expect(textTokens('abcd'.repeat(10))).toBe(10);
    expect(textTokens('日本語の文章')).toBe(5);
  });

  it('count all that is sent', () => {
    const definition = { name: 'x', description: 'y'.repeat(400), parameters: {} };
    const image = {
      type: 'image-data' as const,
      data: 'x'.repeat(1_000_000),
      mediaType: 'image/png',
    };
    const prompt = {
      system: 's'.repeat(40),
      definitions: [definition],
      messages: [
        { role: 'user' as const, content: 'u'.repeat(40) },
        {
          role: 'tool' as const,
          content: [
            {
              type: 'tool-result' as const,
              toolCallId: 'c',
              toolName: 'x',
              output: {
                type: 'content' as const,
                value: [{ type: 'text' as const, text: 'r'.repeat(40) }, image],
              },
            },
          ],
        },
      ],
    };
    const parts = 10 + textTokens(JSON.stringify([definition])) + 10 + 4 + 10 + 1_600 + 4;
    expect(promptTokens(prompt)).toBe(parts);
  });

  it.each([
    [undefined, {}, 1],
    [{ inputTokens: 150, estimate: 100 }, {}, 1.5],
    [{ inputTokens: 1, estimate: 100 }, {}, 0.5],
    [{ inputTokens: 1, estimate: 100 }, { isNative: true }, 0.01],
    [{ inputTokens: 9_000, estimate: 100 }, {}, 4],
    [{ inputTokens: 0, estimate: 100 }, {}, 1],
  ])('are corrected by what the model counted: %j %j', (counted, options, factor) => {
    expect(correction(counted, options)).toBe(factor);
  });
});
