/** Models trained to think first write `<think>…</think>` before their answer. */

export const thoughtStart = '<think>';
export const thoughtEnd = '</think>';

/** What a chat template says about thinking. */
export interface ThinkingTemplate {
  /** Whether the text stands in its source. */
  readonly writes: (text: string) => boolean;
  /** A conversation with `enable_thinking` of this value. */
  readonly render: (thinking: boolean) => string;
}

/** Whether the chat template itself has opened the reasoning, so that the output begins inside it. */
export function opensReasoning(renderedPrompt: string): boolean {
  return renderedPrompt.trimEnd().endsWith(thoughtStart);
}

/**
 * Whether an answer may begin with a thought: the template knows of thoughts, and they were not switched off. Some
 * templates have no such switch, and some open a thought whatever it says; the model of these thinks in any case.
 */
export function mayThink(thinking: boolean | undefined, template: ThinkingTemplate): boolean {
  if (!template.writes(thoughtStart) && !template.writes(thoughtEnd)) return false;
  if (thinking !== false) return true;
  try {
    const switchedOff = template.render(false);
    return opensReasoning(switchedOff) || switchedOff === template.render(true);
  } catch {
    return true;
  }
}
