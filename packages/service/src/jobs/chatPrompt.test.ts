import assert from 'node:assert/strict';
import { it } from 'node:test';
import { chatPromptOf } from './chatPrompt.js';

it('tells the model of no function when tool_choice is none, so that it writes no call as its text', () => {
  const request = {
    messages: [{ role: 'user' as const, content: 'What is the weather in Paris?' }],
    tools: [
      {
        type: 'function' as const,
        function: { name: 'get_weather', description: 'Weather of a city', parameters: { type: 'object' } },
      },
    ],
  };
  const names = (toolChoice: 'auto' | 'required' | 'none'): readonly string[] | undefined =>
    chatPromptOf({ ...request, tool_choice: toolChoice }).tools?.map(({ name }) => name);
  assert.deepEqual([names('auto'), names('required'), names('none')], [['get_weather'], ['get_weather'], undefined]);
});
