"""G3 retire: what KubeRay no longer declares is deleted, and what its owner deleted stays deleted."""

from tests.ray.configs import app, tuned


async def test_g3_a_static_application_that_kuberay_declares_no_longer_is_deleted(ray, kuberay, dynamic):
    await kuberay.declares(app("shop"), app("cart"))
    await ray.until_running("cart")

    await kuberay.declares(app("shop"))

    await ray.until({"cart": None, "shop": "RUNNING"})
    assert dynamic == await ray.until_running(*dynamic)


async def test_g3_it_is_deleted_also_when_the_proxy_was_killed_in_between(ray, proxy, kuberay, dynamic):
    await kuberay.declares(app("shop"), app("cart"))
    await ray.until_running("cart")

    proxy.restart()
    await kuberay.declares(app("shop"))

    await ray.until({"cart": None, "shop": "RUNNING"})
    assert dynamic == await ray.until_running(*dynamic)


async def test_g3_a_proxy_that_has_lost_its_memory_deletes_nothing(ray, proxy, kuberay, dynamic):
    proxy.move()

    await kuberay.declares(tuned("shop", 5))

    assert dynamic == await ray.until_running(*dynamic)


async def test_g3_an_application_that_its_owner_deleted_stays_deleted(ray, kuberay, developer, dynamic):
    assert "guest" in dynamic
    deleted = await developer.delete_app("guest", wait_s=60)
    assert deleted.status == 204

    await kuberay.declares(tuned("shop", 5))
    await kuberay.restarts()

    await ray.until_running("shop")
    assert "guest" not in await ray.statuses()


async def test_g3_a_deletion_under_way_is_not_undone_by_a_put(ray, kuberay, developer, dynamic):
    """A PUT that names an application which is DELETING cancels the deletion."""
    assert "guest" in dynamic
    await developer.delete_app("guest")
    await kuberay.declares(tuned("shop", 5))

    await ray.until({"guest": None})
    await kuberay.declares(tuned("shop", 6))
    assert "guest" not in await ray.statuses()


async def test_g3_serve_delete_of_a_rest_application_is_final(ray, kuberay, dynamic):
    """Ray keeps its config, and would bring it back at the next restart of the controller."""
    assert "guest" in dynamic
    await ray.serve_delete("guest")
    await ray.until({"guest": None})
    await kuberay.declares(tuned("shop", 5))

    await ray.kill_controller()

    await ray.until_running("shop")
    assert "guest" not in await ray.statuses()
