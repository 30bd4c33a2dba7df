"""The real window, under a virtual X server: what it shows is the kept frame."""

import os
import shutil
import subprocess
import tempfile

from running import RunCase, child, frames, wait_for


def pixels(path):
    """Width x height and RGB bytes of a picture, by ImageMagick."""
    done = subprocess.run(["convert", str(path), "-alpha", "off", "-depth", "8", "rgb:-"], capture_output=True, check=True)
    size = subprocess.run(["identify", "-format", "%wx%h", str(path)], capture_output=True, check=True, text=True).stdout
    return size, done.stdout


class Window(RunCase):
    def setUp(self):
        super().setUp()
        for tool in ("Xvfb", "import", "convert"):
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not installed")
        # The screen is as large as the frame, so the window covers it whole and unscaled.
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "640x360x24", "-nolisten", "tcp"],
                                       pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as told:
            self.display = ":" + told.readline().strip()
        self.addCleanup(self.stop_server)

    def stop_server(self):
        self.server.terminate()
        self.server.wait()

    def shot(self, name):
        path = self.folder / name
        subprocess.run(["import", "-display", self.display, "-window", "root", str(path)], check=True, timeout=60)
        return pixels(path)

    def run_title(self, kept, count):
        return self.start("run", "--cpu", "--logical-clock", "--keep-frames", kept, "raymarch", "--size", "640x360",
                          "--frames", count, "--hold", DISPLAY=self.display, SDL_VIDEODRIVER="x11", WAYLAND_DISPLAY="")

    def test_a_screenshot_of_the_window_equals_the_kept_frame(self):
        kept = self.folder / "kept"
        process = self.run_title(kept, 3)
        wait_for(lambda: len(frames(kept)) == 3 or process.poll() is not None, 120)
        self.assertIsNone(process.poll(), process.communicate() if process.poll() is not None else "")
        last = pixels(frames(kept)[-1])
        self.assertGreater(len(set(last[1][i:i + 3] for i in range(0, len(last[1]), 3 * 97))), 50, "a trivial picture")
        # The frame is kept before the window system has shown it.
        wait_for(lambda: self.shot("shot.png") == last, 30, 0.3)

    def test_a_new_life_of_the_service_shows_the_last_frame_again(self):
        kept = self.folder / "kept"
        process = self.run_title(kept, 3)
        wait_for(lambda: len(frames(kept)) == 3 or process.poll() is not None, 120)
        last = pixels(frames(kept)[-1])
        wait_for(lambda: self.shot("before.png") == last, 30, 0.3)
        service = child(process.pid, "orrery-gpu")
        os.kill(service, 9)
        wait_for(lambda: child(process.pid, "orrery-gpu") not in (None, service), 30)
        wait_for(lambda: self.shot("after.png") == last, 30, 0.3)
        self.assertIsNone(process.poll())
